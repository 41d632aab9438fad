// A step of an optimizer, one thread per parameter. Neighbouring threads take neighbouring
// parameters. The limit is memory bandwidth, nearly: three arrays or more keep many loads in
// flight.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/optimizer/updates.hpp"

namespace ridgebench::cuda::optimizer_naive {

constexpr int kThreads = 256;

template <class U>
__global__ void optimizer_naive(optimizer::Arrays<U> arrays, typename U::Rule rule,
                                std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  constexpr int kStates = U::kStates;
  std::array<float, U::kStates> state;
  for (int j = 0; j < kStates; ++j) state[j] = arrays.state[j][i];
  float p;
  if constexpr (U::kMaster) {
    p = arrays.state[U::kMasterArray][i];
  } else {
    p = to_float(arrays.p[i]);
  }
  p = rule(p, to_float(arrays.g[i]), state);
  for (int j = 0; j < kStates; ++j) arrays.state[j][i] = state[j];
  if constexpr (U::kMaster) arrays.state[U::kMasterArray][i] = p;
  arrays.p[i] = from_float<typename U::P>(p);
}

struct Naive {
  template <class U>
  static Launch launch(Queue& queue, const Shape& shape, const optimizer::Arrays<U>& arrays) {
    const std::int64_t n = shape["n"];
    const typename U::Rule rule;
    return [=, blocks = blocks_for(n, kThreads), stream = stream_of(queue)] {
      optimizer_naive<U><<<blocks, kThreads, 0, stream>>>(arrays, rule, n);
    };
  }
};

template <class U>
Technique technique() {
  Technique naive = optimizer::technique<U>("naive");
  naive.supports = supports_elements<kThreads>;
  return naive;
}

const Registration naive{[]<class U>() { return technique<U>(); }, optimizer::Updates{},
                         []<class U>() { return optimizer::bind_for<Naive, U>(); }};

}  // namespace ridgebench::cuda::optimizer_naive
