// A step of an optimizer on packs of parameters, one per thread: a vector of 16 bytes of each array
// in the widest format, and 8 bytes of arrays that are half as wide (pointwise.cuh). The limit is
// memory bandwidth.
#include "kernels/common/cuda/pointwise.cuh"
#include "kernels/optimizer/updates.hpp"

namespace ridgebench::cuda::optimizer_vec16 {

// Elements of a pack: the widest of the arrays decides.
template <class U>
constexpr int kPack =
    U::kArrays > 0 ? kPackElements<float> : kPackElements<typename U::G, typename U::P>;

template <class U, int kElements>
__device__ void update(const optimizer::Arrays<U>& arrays, const typename U::Rule& rule,
                       std::int64_t first) {
  constexpr int kStates = U::kStates;
  constexpr int kArrays = U::kArrays;
  const Floats<kElements> g = load_floats<kElements>(arrays.g, first);
  std::array<Floats<kElements>, U::kArrays> state;
  if constexpr (kArrays > 0) {
#pragma unroll
    for (int j = 0; j < kArrays; ++j) state[j] = load_floats<kElements>(arrays.state[j], first);
  }
  Floats<kElements> p;
  if constexpr (U::kMaster) {
    p = state[U::kMasterArray];
  } else {
    p = load_floats<kElements>(arrays.p, first);
  }
#pragma unroll
  for (int k = 0; k < kElements; ++k) {
    std::array<float, U::kStates> own;
#pragma unroll
    for (int j = 0; j < kStates; ++j) own[j] = state[j].at[k];
    p.at[k] = rule(p.at[k], g.at[k], own);
#pragma unroll
    for (int j = 0; j < kStates; ++j) state[j].at[k] = own[j];
  }
  if constexpr (U::kMaster) state[U::kMasterArray] = p;
  if constexpr (kArrays > 0) {
#pragma unroll
    for (int j = 0; j < kArrays; ++j) store_floats(arrays.state[j], first, state[j]);
  }
  store_floats(arrays.p, first, p);
}

template <int kThreads, class U>
__global__ void __launch_bounds__(kThreads)
    optimizer_vec16(optimizer::Arrays<U> arrays, typename U::Rule rule, std::int64_t n) {
  for_packs<kThreads, kPack<U>>(
      n, [&]<int kElements>(std::int64_t first) { update<U, kElements>(arrays, rule, first); });
}

struct Vec16Update {
  template <class U>
  static Launch launch(Queue& queue, const BlockThreads& block, const Shape& shape,
                       const optimizer::Arrays<U>& arrays) {
    require_all_aligned(arrays.g, arrays.p);
    for (const float* state : arrays.state) require_aligned(state);
    const typename U::Rule rule;
    return launch_packs<kPack<U>>(
        queue, block, shape,
        [=]<int kThreads>(unsigned blocks, cudaStream_t stream, std::int64_t n) {
          optimizer_vec16<kThreads, U><<<blocks, kThreads, 0, stream>>>(arrays, rule, n);
        });
  }
};

template <class U>
Technique technique() {
  Technique vec16 = optimizer::technique<U>("vec16");
  vec16.supports = supports_packs<typename U::G, typename U::P>;
  return vec16;
}

const Registration vec16{
    []<class U>() { return technique<U>(); }, optimizer::Updates{},
    []<class U>() { return planned_packs(optimizer::bind_for<Vec16Update, U, BlockThreads>()); }};

}  // namespace ridgebench::cuda::optimizer_vec16
