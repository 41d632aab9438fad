// GeLU on vectors of 16 bytes, one per thread as in relu/vec16.cu, with the form of tanh that the
// output's precision needs (kernels/common/cuda/gelu.cuh). In fp8, with two bytes per element, a
// second MUFU would take longer than the memory traffic, and the arithmetic comes close to it: it
// is done in pairs of fp16 (gelu_half2.cuh). The limit is memory bandwidth.
#include "kernels/common/cuda/fp8_pairs.cuh"
#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/gelu_half2.cuh"
#include "kernels/common/cuda/map_vectors.cuh"
#include "kernels/common/gelu_error.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::gelu_vec16 {

constexpr int kMost = 512;  // threads of a block

template <class T>
__device__ Vec16<T> gelu(Vec16<T> vector) {
  if constexpr (kIsFp8<T>) {
    std::uint32_t words[kVectorBytes / 4];
    memcpy(words, &vector, sizeof words);
#pragma unroll
    for (std::uint32_t& word : words) {
      word = from_half2<T>(gelu_tanh_approx(to_half2<T, false>(word)),
                           gelu_tanh_approx(to_half2<T, true>(word)));
    }
    memcpy(&vector, words, sizeof vector);
  } else {
#pragma unroll
    for (int i = 0; i < kVectorElements<T> / 2; ++i) {
      const float2 x = to_float2(vector, i);
      vector.pair[i] = from_float2<T>({gelu_approx<T>(x.x), gelu_approx<T>(x.y)});
    }
  }
  return vector;
}

template <class T>
__device__ T gelu(T x) {
  if constexpr (kIsFp8<T>) {
    return {static_cast<std::uint8_t>(from_half2<T>(gelu_tanh_approx(to_half2<T, false>(x.bits))))};
  } else {
    return from_float<T>(gelu_approx<T>(to_float(x)));
  }
}

template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads) gelu_vec16(const T* x, T* y, std::int64_t n) {
  map_vectors<kThreads>(x, y, n, [](auto part) { return gelu(part); });
}

template <class T>
Launch bind(Queue& queue, const BlockThreads& block, const Shape& shape, const T* x, T* y) {
  require_aligned(x);
  require_aligned(y);
  return with_threads<kMost>(block, [&]<int kThreads>() -> Launch {
    const std::int64_t n = shape["n"];
    const unsigned blocks = blocks_of_vectors<T, kThreads>(n);
    return [=, stream = stream_of(queue)] {
      gelu_vec16<kThreads><<<blocks, kThreads, 0, stream>>>(x, y, n);
    };
  });
}

template <class T>
Technique technique() {
  return {.operation = "gelu",
          .name = "vec16",
          .engine = Engine::fma,
          .arithmetic = kIsFp8<T> ? Format::fp16 : Format::fp32,
          .supports = supports_vectors<kLeastThreads>,
          .approximation_error = kIsFp8<T> ? kGeluHalf2Error : kGeluError<T>};
}

const Registration vec16{
    []<class T>() { return technique<T>(); }, ElementTypes{},
    []<class T>() { return planned(prepare_threads<kMost>, bind<T>, block_threads<kMost>); }};

}  // namespace ridgebench::cuda::gelu_vec16
