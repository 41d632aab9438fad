// Integer division that rounds up.
#pragma once

#include <cstdint>

namespace ridgebench {

constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

}  // namespace ridgebench
