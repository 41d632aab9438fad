#include "harness/measure/probing/kept_bits.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ridgebench {
namespace {

constexpr double kUnits = 4;

// Whether two references are further apart than kUnits units in the last place of an output.
bool moved(double x, double y, const FormatInfo& format) {
  const double size = std::max(std::abs(x), std::abs(y));
  const double unit =
      format.whole() ? 1 / (2 * kUnits) : std::max(format.epsilon() * size, format.min_subnormal());
  return std::abs(x - y) > kUnits * unit;  // false for a NaN
}

}  // namespace

KeptBits::KeptBits(std::span<const Output> outputs, std::span<const std::int64_t> rows,
                   std::span<const View> of_new, std::span<const View> of_old) {
  std::vector<std::int64_t> done(outputs.size());
  for (const std::int64_t row : rows) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Format format = outputs[i].operand.format;
      const auto bytes = static_cast<std::size_t>(info(format).storage_bytes);
      const auto* x = static_cast<const std::byte*>(of_new[i].data);
      const auto* y = static_cast<const std::byte*>(of_old[i].data);
      for (std::int64_t k = 0; k < outputs[i].length_of(row); ++k) {
        const std::size_t at = static_cast<std::size_t>(done[i]++) * bytes;
        kept_.push_back(std::memcmp(x + at, y + at, bytes) == 0 ? 1 : 0);
        formats_.push_back(format);
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
    if (!moved(of_new[i].value, of_old[i].value, info(formats_[i]))) continue;
    ++changed;
    kept += kept_[i];
  }
  return 2 * kept > changed;
}

}  // namespace ridgebench
