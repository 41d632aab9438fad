#include "harness/injected_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kernels/common/error.hpp"

namespace ridgepoint {

double injected_share() {
  const char* text = std::getenv(kInjectedWorkVariable);
  if (text == nullptr) return 0;
  double share = 0;
  const char* last = text + std::strlen(text);
  const auto [end, error] = std::from_chars(text, last, share);
  // NaN fails both comparisons.
  if (error != std::errc{} || end != last || !(share >= 0 && share <= 1)) {
    throw UsageError(
        fmt::format("{}='{}' is not a number from 0 to 1", kInjectedWorkVariable, text));
  }
  return share;
}

Shape scaled_shape(const Shape& shape, double share) {
  std::vector<Shape::Dimension> dimensions = shape.dimensions();
  if (!dimensions.empty()) {
    std::int64_t& first = dimensions.front().second;
    const auto scaled = std::llround(share * static_cast<double>(first));
    first = std::max<std::int64_t>(scaled, 1);
  }
  return Shape(std::move(dimensions),
               shape.has_layout() ? std::optional(shape.layout()) : std::nullopt);
}

}  // namespace ridgepoint
