// Shared by kernels that compute outputs element by element from any number of arrays, in fp32: a
// thread handles a pack of neighbouring elements, which lie in one vector of 16 bytes in the widest
// of the arrays.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/common/cuda/map_vectors.cuh"

namespace ridgebench::cuda {

// Threads of a block at most. A thread has at least two vectors of 16 bytes in flight, so that
// fewer threads than one of relu/vec16.cu keep the memory busy, and each may have more registers.
inline constexpr int kMostPackThreads = 512;

// Elements of a pack for arrays of these types.
template <class... T>
inline constexpr int kPackElements = kVectorBytes / std::max({static_cast<int>(sizeof(T))...});

template <int kElements>
struct Floats {
  float at[kElements];
};

// The bytes of kElements elements, 2 to 16 of them, which one instruction loads or stores.
template <int kBytes>
struct PackWord;
template <>
struct PackWord<8> {
  using type = uint2;
};
template <>
struct PackWord<16> {
  using type = uint4;
};

// x[first ...], kElements of them; `first` is a multiple of kElements.
template <int kElements, class T>
__device__ Floats<kElements> load_floats(const T* x, std::int64_t first) {
  Floats<kElements> values;
  if constexpr (kElements == 1) {
    values.at[0] = to_float(x[first]);
  } else {
    Pair<T> pairs[kElements / 2];
    const auto word =
        *reinterpret_cast<const typename PackWord<kElements * sizeof(T)>::type*>(x + first);
    memcpy(pairs, &word, sizeof word);
#pragma unroll
    for (int i = 0; i < kElements / 2; ++i) {
      const float2 pair = to_float2(pairs[i]);
      values.at[2 * i] = pair.x;
      values.at[2 * i + 1] = pair.y;
    }
  }
  return values;
}

template <int kElements, class T>
__device__ void store_floats(T* y, std::int64_t first, const Floats<kElements>& values) {
  if constexpr (kElements == 1) {
    y[first] = from_float<T>(values.at[0]);
  } else {
    Pair<T> pairs[kElements / 2];
#pragma unroll
    for (int i = 0; i < kElements / 2; ++i) {
      pairs[i] = from_float2<T>(make_float2(values.at[2 * i], values.at[2 * i + 1]));
    }
    typename PackWord<kElements * sizeof(T)>::type word;
    memcpy(&word, pairs, sizeof word);
    *reinterpret_cast<decltype(word)*>(y + first) = word;
  }
}

// Calls f.operator()<kElements>(first) for this thread's pack, and f.operator()<1>(i) for an
// element after the last pack, which the first block handles.
template <int kThreads, int kElements, class F>
__device__ void for_packs(std::int64_t n, const F& f) {
  const std::int64_t packs = n / kElements;
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < packs) f.template operator()<kElements>(i * kElements);
  const std::int64_t behind = packs * kElements + i;
  if (behind < n) f.template operator()<1>(behind);
}

// y = f of every x.
template <int kThreads, class T, class F, class... X>
__device__ void map_packs(T* y, std::int64_t n, const F& f, const X*... x) {
  for_packs<kThreads, kPackElements<T, X...>>(n, [&]<int kElements>(std::int64_t first) {
    const auto compute = [&](const auto&... values) {
      Floats<kElements> result;
#pragma unroll
      for (int k = 0; k < kElements; ++k) result.at[k] = f(values.at[k]...);
      store_floats(y, first, result);
    };
    compute(load_floats<kElements>(x, first)...);
  });
}

// A launch of a kernel with kElements elements for each thread. start.operator()<kThreads>(blocks,
// stream, n) starts it.
template <int kElements, class Start>
Launch launch_packs(Queue& queue, const BlockThreads& block, const Shape& shape, Start start) {
  return with_threads<kMostPackThreads>(block, [&]<int kThreads>() -> Launch {
    const std::int64_t n = shape["n"];
    const unsigned blocks = blocks_for(n, std::int64_t{kThreads} * kElements);
    return
        [=, stream = stream_of(queue)] { start.template operator()<kThreads>(blocks, stream, n); };
  });
}

// Throws Unsupported for a pointer that is not aligned to 16 bytes.
template <class... Pointers>
void require_all_aligned(Pointers... operands) {
  (require_aligned(operands), ...);
}

// Returns a bind for such a kernel.
template <class Bind>
auto planned_packs(Bind bind) {
  return planned(prepare_threads<kMostPackThreads>, bind, block_threads<kMostPackThreads>);
}

// Technique::supports of such a kernel with arrays of these types.
template <class... T>
std::optional<std::string> supports_packs(const Machine&, const Shape& shape, FormatPair) {
  return grid_limit(shape["n"], std::int64_t{kLeastThreads} * kPackElements<T...>);
}

}  // namespace ridgebench::cuda
