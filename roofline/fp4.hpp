// fp4: OCP's E2M1 in blocks of values that share a scale. No technique here computes in it. `info`
// lists it, `number` rounds to it, and `plan tensor` counts its bytes.
// Sources: OCP Microscaling Formats v1.0 (MXFP4: 32 values share a scale of 8 bits, E8M0); NVIDIA,
// "Introducing NVFP4", 2025 (16 values share a scale in fp8_e4m3).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace ridgebench {

struct Fp4 {
  static constexpr std::string_view name = "fp4_e2m1";
  static constexpr int exponent_bits = 2;
  static constexpr int mantissa_bits = 1;
  static constexpr double element_bytes = 0.5;
  static constexpr double scale_bytes = 1;
  static constexpr double block = 16;  // of NVFP4
  // The values that are not negative, in the order of their bits. Negative ones have bit 3 set.
  static constexpr std::array<double, 8> values{0, 0.5, 1, 1.5, 2, 3, 4, 6};

  // Returns the bits of the nearest value. Ties go to the even mantissa, and a value too large
  // becomes the largest (PTX: cvt.rn.satfinite.e2m1x2).
  static std::uint32_t encode(double value) {
    const double magnitude = std::abs(value);
    const auto above = std::ranges::lower_bound(values, magnitude);
    auto bits = static_cast<std::uint32_t>(above - values.begin());
    if (above == values.end()) {
      --bits;
    } else if (bits > 0) {
      const double middle = (values.at(bits) + values.at(bits - 1)) / 2;
      const bool down = magnitude < middle || (magnitude == middle && bits % 2 == 1);
      if (down) --bits;
    }
    return bits | (std::signbit(value) ? 8U : 0U);
  }
  static double decode(std::uint32_t bits) {
    const double magnitude = values.at(bits & 7U);
    return (bits & 8U) != 0 ? -magnitude : magnitude;
  }
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
  const bool element = format == "fp4" || format == Fp4::name;
  const std::string_view wanted = element ? kFp4Blocks.front().name : format;
  const auto found = std::ranges::find(kFp4Blocks, wanted, &Fp4Blocks::name);
  return found == kFp4Blocks.end() ? nullptr : &*found;
}

}  // namespace ridgebench
