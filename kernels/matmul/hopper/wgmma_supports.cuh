// Formats, layouts and shapes that products with wgmma and TMA support.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/fp8_accumulation.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda {

// Calls `make` with the layout as a compile-time constant; wgmma reads every layout in 16-bit
// formats only.
template <class A, class Make>
Launch with_wgmma_layout(Layout layout, const Make& make) {
  if constexpr (sizeof(A) == 2) {
    return with_layout(layout, make);
  } else {
    return make(std::integral_constant<Layout, Layout::nt>());
  }
}

// The formats that wgmma multiplies.
using WgmmaProducts = decltype(Tf32Products{} + HalfProducts{} + Fp8Products{});

// Technique::supports of products with wgmma: pure arithmetic.
inline std::optional<std::string> supports_wgmma(const Machine& machine, const Shape& shape,
                                                 FormatPair formats) {
  if (machine.compute_capability != 90) return "runs on compute capability 9.0 only";
  if (info(formats.a).storage_bytes != 2 && shape.layout() != Layout::nt) {
    return "reads fp32, tf32 and fp8 K-major only: layout nt";
  }
  return std::nullopt;
}

// Why TMA cannot take a matrix with rows of `elements` elements, and which technique can.
inline std::optional<std::string> supports_tma_row(std::int64_t elements, Format format) {
  const std::int64_t bytes = elements * info(format).storage_bytes;
  if (bytes % kTmaRowAlignment == 0) return std::nullopt;
  const char* const other = format == Format::fp32     ? "register_tile"
                            : format == Format::tf32x3 ? "naive"
                                                       : "mma_sync";
  return "TMA takes rows of multiples of 16 bytes, not of " + std::to_string(bytes) + "; " + other +
         " serves them";
}

// Technique::supports of products whose operands TMA loads.
inline std::optional<std::string> supports_wgmma_tma(const Machine& machine, const Shape& shape,
                                                     FormatPair formats) {
  if (auto reason = supports_wgmma(machine, shape, formats)) return reason;
  for (const char* const dimension : {"m", "n", "k"}) {
    if (shape[dimension] > kTmaMaxRows) return "TMA takes up to 2^31 - 1 rows";
  }
  const Layout layout = shape.layout();
  if (auto reason = supports_tma_row(shape[a_is_k_major(layout) ? "k" : "m"], formats.a)) {
    return reason;
  }
  return supports_tma_row(shape[b_is_k_major(layout) ? "k" : "n"], formats.b);
}

// A persistent kernel counts the columns of C in an int, to the end of a tile of up to 256 beside
// the last one.
inline constexpr std::int64_t kMostPersistentColumns = (std::int64_t{1} << 31U) - 2048;

// Technique::supports of the persistent kernels, which also store by TMA.
inline std::optional<std::string> supports_persistent(const Machine& machine, const Shape& shape,
                                                      FormatPair formats) {
  if (auto reason = supports_wgmma_tma(machine, shape, formats)) return reason;
  if (shape["n"] > kMostPersistentColumns) return "n is above 2^31 - 2048";
  return supports_tma_row(shape["n"], product_format(formats));
}

// A product that leaves its sums in the tensor cores.
template <class P>
Technique wgmma_technique(const std::string& name, const Supports& supports) {
  constexpr bool fp8 = kIsFp8<typename P::A>;
  return {.operation = "matmul",
          .name = name,
          .engine = Engine::tensor,
          .supports = supports,
          .accumulator_bits = fp8 ? kFp8SumBits : 0,
          .accumulation_error = fp8 ? kFp8SumError : 0};
}

}  // namespace ridgebench::cuda
