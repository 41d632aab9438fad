// Integer division that rounds up, and multiples.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ridgebench {

constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// Return the smallest multiple of `step` that is not below the value. No templates: a host's
// kernels would instantiate them for one instruction set.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return ceil_div(value, step) * step;
}
constexpr std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace ridgebench
