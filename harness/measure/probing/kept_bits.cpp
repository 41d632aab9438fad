#include "harness/measure/probing/kept_bits.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ridgebench {
namespace {

constexpr double kUnits = 4;

// True if two references are further apart than kUnits units in the last place of an output, and
// than the rounding of both explains: a GeLU far below zero is zero in fp32.
bool moved(const Expected& x, const Expected& y, const FormatInfo& format,
           const Tolerance& rounding) {
  const double distance = std::abs(x.value - y.value);
  const double size = std::max(std::abs(x.value), std::abs(y.value));
  const double unit =
      format.whole() ? 1 / (2 * kUnits) : std::max(format.epsilon() * size, format.min_subnormal());
  return distance > kUnits * unit && distance > rounding(x) + rounding(y);  // false for a NaN
}

}  // namespace

KeptBits::KeptBits(const Implementation& implementation, const Shape& shape,
                   std::span<const Output> outputs, std::span<const std::int64_t> rows,
                   std::span<const View> of_new, std::span<const View> of_old) {
  Technique technique = implementation.technique;
  technique.approximation_error = 0;
  std::vector<std::int64_t> done(outputs.size());
  for (const Output& output : outputs) {
    const Format format = output.operand.format;
    outputs_.push_back(
        {format, Tolerance(technique, implementation.operation->reduction(shape), format)});
  }
  for (const std::int64_t row : rows) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Format format = outputs[i].operand.format;
      const auto bytes = static_cast<std::size_t>(info(format).storage_bytes);
      const auto* x = static_cast<const std::byte*>(of_new[i].data);
      const auto* y = static_cast<const std::byte*>(of_old[i].data);
      for (std::int64_t k = 0; k < outputs[i].length_of(row); ++k) {
        const std::size_t at = static_cast<std::size_t>(done[i]++) * bytes;
        kept_.push_back(std::memcmp(x + at, y + at, bytes) == 0 ? 1 : 0);
        output_of_.push_back(i);
      }
    }
  }
}

bool KeptBits::any() const { return std::ranges::find(kept_, 1) != kept_.end(); }

bool KeptBits::most_moved(std::span<const Expected> of_new,
                          std::span<const Expected> of_old) const {
  std::int64_t changed = 0;
  std::int64_t kept = 0;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const auto& [format, rounding] = outputs_[output_of_[i]];
    if (!moved(of_new[i], of_old[i], info(format), rounding)) continue;
    ++changed;
    kept += kept_[i];
  }
  return 2 * kept > changed;
}

}  // namespace ridgebench
