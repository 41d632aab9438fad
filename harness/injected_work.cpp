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
  const double factor = std::pow(share, 1 / static_cast<double>(dimensions.size()));
  for (auto& [name, size] : dimensions) {
    size = std::max<std::int64_t>(std::llround(factor * static_cast<double>(size)), 1);
  }
  return Shape(std::move(dimensions),
               shape.has_layout() ? std::optional(shape.layout()) : std::nullopt);
}

}  // namespace ridgepoint
