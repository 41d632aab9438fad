// fp4: OCP's E2M1 in blocks of values that share a scale. matmul_nvfp4 multiplies it, `info` lists
// it, `number` rounds to it, and `plan tensor` counts its bytes.
// Sources: OCP Microscaling Formats v1.0 (MXFP4: 32 values share a scale of 8 bits, E8M0); NVIDIA,
// "Introducing NVFP4", 2025 (16 values share a scale in fp8_e4m3).
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/common/format.hpp"

namespace ridgebench {

struct Fp4 {
  static constexpr double element_bytes = 0.5;
  static constexpr double scale_bytes = 1;
  static constexpr double block = 16;  // of NVFP4
};

// A way to store fp4: `block` values of a row share a scale of Fp4::scale_bytes.
struct Fp4Blocks {
  std::string_view name;
  double block;

  [[nodiscard]] constexpr double bytes_per_value() const {
    return Fp4::element_bytes + Fp4::scale_bytes / block;
  }
};
inline constexpr std::array kFp4Blocks{Fp4Blocks{"nvfp4", Fp4::block}, Fp4Blocks{"mxfp4", 32}};

// The blocks of a name; fp4 by itself is NVFP4. Null for another format.
inline const Fp4Blocks* fp4_blocks(std::string_view format) {
  const bool element = format == "fp4" || format == kFp4E2m1.name;
  const std::string_view wanted = element ? kFp4Blocks.front().name : format;
  const auto found = std::ranges::find(kFp4Blocks, wanted, &Fp4Blocks::name);
  return found == kFp4Blocks.end() ? nullptr : &*found;
}

}  // namespace ridgebench
