// Multiply-adds of two 16-bit elements at once between registers: six independent pairs of chains
// per thread and as many threads as an SM holds hide the latency of one. Memory is touched only at
// the two ends of a chain. The limit is the rate at which the units accept work, twice that of fp32
// where a unit is 32 bits wide and takes one pair as it takes one float.
#include "kernels/ceilings/fma_half.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda::ceilings_fma_half {

constexpr int kThreads = 256;
constexpr int kUnroll = 32;  // steps of a chain per turn of the loop

__device__ __half2 both(Fp16 first, Fp16 second) {
  return __halves2half2(__ushort_as_half(first.bits), __ushort_as_half(second.bits));
}
__device__ __nv_bfloat162 both(Bf16 first, Bf16 second) {
  return __halves2bfloat162(__ushort_as_bfloat16(first.bits), __ushort_as_bfloat16(second.bits));
}
__device__ Fp16 first_of(__half2 x) { return {__half_as_ushort(__low2half(x))}; }
__device__ Fp16 second_of(__half2 x) { return {__half_as_ushort(__high2half(x))}; }
__device__ Bf16 first_of(__nv_bfloat162 x) { return {__bfloat16_as_ushort(__low2bfloat16(x))}; }
__device__ Bf16 second_of(__nv_bfloat162 x) { return {__bfloat16_as_ushort(__high2bfloat16(x))}; }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
// The toolkit declares it from compute capability 8.0; an older device is unsupported.
__device__ __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 /*b*/, __nv_bfloat162 /*c*/) {
  __trap();
  return a;
}
#endif

// The same value, hidden from the compiler, which must not see that all threads have it. From a
// register that a warp shares only one of the two pipes takes an addend: half of the rate.
template <class Pair>
__device__ Pair in_register(Pair pair) {
  float word;
  memcpy(&word, &pair, sizeof word);
  word = __shfl_xor_sync(0xffffffffU, word, 1);
  memcpy(static_cast<void*>(&pair), &word, sizeof word);
  return pair;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    fma_half_peak(const T* x, T* y, std::int64_t n, int iterations, T start, T addend) {
  const auto c = in_register(both(addend, addend));
  const auto quarter = both(start, start);
  const auto zero = both(T{}, T{});
  // The second of a pair is half a block's chains away, so that neighbours load neighbours.
  constexpr int kHalf = kThreads * kFmaHalfPairs;
  const std::int64_t first = std::int64_t{blockIdx.x} * (2 * kHalf) + threadIdx.x;
  const auto at = [&](std::int64_t i) { return i < n ? x[i] : T{}; };
  decltype(both(T{}, T{})) chain[kFmaHalfPairs];
#pragma unroll
  for (int k = 0; k < kFmaHalfPairs; ++k) {
    const std::int64_t i = first + k * kThreads;
    chain[k] = __hfma2(both(at(i), at(i + kHalf)), quarter, zero);
  }
  int left = iterations;
#pragma unroll 1
  for (; left >= kUnroll; left -= kUnroll) {
#pragma unroll
    for (int step = 0; step < kUnroll; ++step) {
#pragma unroll
      for (auto& pair : chain) pair = __hfma2(pair, pair, c);
    }
  }
#pragma unroll 1
  for (; left > 0; --left) {
#pragma unroll
    for (auto& pair : chain) pair = __hfma2(pair, pair, c);
  }
#pragma unroll
  for (int k = 0; k < kFmaHalfPairs; ++k) {
    const std::int64_t i = first + k * kThreads;
    if (i < n) y[i] = first_of(chain[k]);
    if (i + kHalf < n) y[i + kHalf] = second_of(chain[k]);
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  const std::int64_t n = shape["n"];
  const unsigned blocks = blocks_for(n, 2 * kThreads * kFmaHalfPairs);
  return [=, iterations = chain_length(shape["iterations"]), stream = stream_of(queue)] {
    fma_half_peak<<<blocks, kThreads, 0, stream>>>(x, y, n, iterations, encode<T>(kFmaHalfStart),
                                                   encode<T>(kFmaHalfAddend));
  };
}

template <class T>
Technique technique() {
  return {.operation = "fma_half_peak",
          .name = "registers",
          .engine = Engine::fma,
          .accumulator = FormatOf<T>::value,
          .supports = [](const Machine& m, const Shape& s, FormatPair f) {
            const bool lacks = f.a == Format::bf16 && m.compute_capability < 80;
            if (lacks) return std::optional<std::string>("bf16 needs compute capability 8.0");
            const auto reason = chain_limit(s["iterations"]);
            return reason ? reason : grid_limit(s["n"], 2 * kThreads * kFmaHalfPairs);
          }};
}

const Registration registers{[]<class T>() { return technique<T>(); }, HalfTypes{},
                             []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::ceilings_fma_half
