// ReLU on the bits: the negative numbers are one range of bit patterns, so no format needs a
// conversion, and the kernel compares whole vectors. It streams large results past the caches. The
// limit is the memory bandwidth of a copy.
#include "kernels/common/cpu/streaming.hpp"

#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/map.hpp"

namespace ridgebench {
namespace {

// x < 0 ? 0 : x; keeps -0 and NaN.
template <class T>
T relu(T x) {
  constexpr FormatInfo kInfo = info(T::format);
  constexpr std::uint32_t kMinusZero = 1U << (kInfo.bits() - 1);
  constexpr std::uint32_t kTop = ((1U << kInfo.exponent_bits) - 1U) << kInfo.mantissa_bits;
  // Infinity, or the number below the only NaN if the format has no infinity.
  constexpr std::uint32_t kLargest =
      kInfo.has_infinity ? kTop : kTop + (1U << kInfo.mantissa_bits) - 2U;
  const bool negative = x.bits > kMinusZero && x.bits <= kMinusZero + kLargest;
  return negative ? T{0} : x;
}

float relu(float x) { return x < 0 ? 0 : x; }

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  const std::int64_t n = shape["n"];
  return [=, threads = queue.threads(), streaming = cpu::streaming_pays<T>(n)] {
    constexpr std::int64_t kLine = cpu::kLineElements<T>;
    const auto block = [](const T* in, T* out) {
#pragma omp simd
      for (std::int64_t k = 0; k < kLine; ++k) out[k] = relu(in[k]);
    };
    cpu::map<kLine>(y, n, threads, streaming, block, x);
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration streaming{
    {.operation = "relu", .name = "streaming", .engine = Engine::memory, .isa = cpu::kIsa},
    ElementTypes{},
    []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
