// Conversions between registers: each thread holds a few elements and changes them a little in
// every iteration, so that the compiler can compute nothing in advance. It rounds them to the
// format or widens them from it two at a time and adds up the bits of all results. The limit is the
// rate of the conversion instructions, or of issuing them together with the integer operations.
#include "kernels/ceilings/convert.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda::ceilings_convert {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads)
    convert_narrow(const T* x, float* sum, std::int64_t chains, int iterations) {
  const std::int64_t chain = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (chain >= chains) return;
  float value[kNarrowInputs];
#pragma unroll
  for (int k = 0; k < kNarrowInputs; ++k) value[k] = to_float(x[k * chains + chain]);
  std::uint32_t bits = 0;
#pragma unroll 4
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (float& v : value) v += kConvertStep;
#pragma unroll
    for (int k = 0; k < kNarrowInputs; ++k) {
#pragma unroll
      for (int l = 0; l < kNarrowInputs; ++l) {
        if (l != k) bits += narrow<T>(make_float2(value[k], value[l]));
      }
    }
  }
  sum[chain] = folded(bits);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    convert_widen(const T* x, float* sum, std::int64_t chains, int iterations) {
  constexpr std::uint32_t kSecond = 1U << (8 * sizeof(T));  // 1 in the upper of two numbers
  constexpr std::uint32_t kMask = mantissa_mask(FormatOf<T>::value) * (1 + kSecond);
  const std::int64_t chain = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (chain >= chains) return;
  PairWord<T> word[kWidenInputs / 2];
#pragma unroll
  for (int k = 0; k < kWidenInputs / 2; ++k) {
    const std::uint32_t first = x[2 * k * chains + chain].bits;
    const std::uint32_t second = x[(2 * k + 1) * chains + chain].bits;
    word[k] = static_cast<PairWord<T>>(first | second << (8 * sizeof(T)));
  }
  std::uint32_t bits = 0;
  std::uint32_t change = 0;
#pragma unroll 1  // unrolled, the few values that `change` takes in fp8 would repeat
  for (int i = 0; i < iterations; ++i) {
    change = (change + 1 + kSecond) & kMask;
#pragma unroll
    for (const PairWord<T> w : word) {
      const float2 wide = widen<T>(static_cast<PairWord<T>>(w ^ change));
      bits += __float_as_uint(wide.x) + __float_as_uint(wide.y);
    }
  }
  sum[chain] = folded(bits);
}

template <class T>
Launch bind_narrow(Queue& queue, const Shape& shape, const T* x, float* sum) {
  const std::int64_t chains = shape["chains"];
  const unsigned blocks = blocks_for(chains, kThreads);
  return [=, iterations = chain_length(shape["iterations"]), stream = stream_of(queue)] {
    convert_narrow<<<blocks, kThreads, 0, stream>>>(x, sum, chains, iterations);
  };
}

template <class T>
Launch bind_widen(Queue& queue, const Shape& shape, const T* x, float* sum) {
  const std::int64_t chains = shape["chains"];
  const unsigned blocks = blocks_for(chains, kThreads);
  return [=, iterations = chain_length(shape["iterations"]), stream = stream_of(queue)] {
    convert_widen<<<blocks, kThreads, 0, stream>>>(x, sum, chains, iterations);
  };
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair format) {
  if (info(format.a).storage_bytes == 1 && machine.compute_capability < 89) {
    return "conversions of fp8 are instructions from compute capability 8.9 on";
  }
  if (const auto reason = chain_limit(shape["iterations"])) return reason;
  return grid_limit(shape["chains"], kThreads);
}

Technique technique(const std::string& operation) {
  return {.operation = operation, .name = "registers", .engine = Engine::sfu, .supports = supports};
}

const Registration to_narrow{technique("convert_narrow"), HalfTypes{} + Fp8Types{},
                             []<class T>() { return bind_narrow<T>; }};
const Registration to_wide{technique("convert_widen"), Types<Fp16>{} + Fp8Types{},
                           []<class T>() { return bind_widen<T>; }};

}  // namespace ridgebench::cuda::ceilings_convert
