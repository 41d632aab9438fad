// The sums of tensor instructions in registers of 32 bits: fp32, or int32, which wraps around.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/common/format.hpp"

namespace ridgebench::emulator {

inline double sum_of_bits(std::uint32_t bits, Format format) {
  if (format == Format::int32) return std::bit_cast<std::int32_t>(bits);
  return std::bit_cast<float>(bits);
}

inline std::uint32_t bits_of_sum(double sum, Format format) {
  if (format == Format::int32) return static_cast<std::uint32_t>(static_cast<std::int64_t>(sum));
  return std::bit_cast<std::uint32_t>(static_cast<float>(sum));
}

}  // namespace ridgebench::emulator
