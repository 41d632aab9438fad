// FP4 as NVIDIA stores it (NVFP4): OCP's E2M1 with a scale in fp8_e4m3 for each block of 16 values.
// No technique here computes in it. `info` lists it, and `plan tensor` counts its bytes.
// Source: OCP Microscaling Formats v1.0; NVIDIA, "Introducing NVFP4", 2025.
#pragma once

#include <array>
#include <string_view>

namespace ridgebench {

struct Fp4 {
  static constexpr std::string_view name = "fp4_e2m1";
  static constexpr double element_bytes = 0.5;
  static constexpr double block = 16;
  static constexpr double scale_bytes = 1;
  // The values that are not negative.
  static constexpr std::array<double, 8> values{0, 0.5, 1, 1.5, 2, 3, 4, 6};
};

}  // namespace ridgebench
