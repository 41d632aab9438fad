#include "harness/measure/probing/kept_bits.hpp"

#include <algorithm>
#include <cmath>

namespace ridgebench {
namespace {

constexpr double kUnits = 4;
// Share of an output's elements up to which new inputs moved hardly any.
constexpr double kHardlyAny = 0.1;
// One thread is faster for up to that many elements than a team that starts.
constexpr std::size_t kFewKept = 1 << 14;

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

// Marks the elements that are equal in two arrays of a format whose elements have the size of Bits.
template <class Bits>
void mark_equal(const void* x, const void* y, std::size_t first, std::span<unsigned char> marks) {
  const Bits* const of_x = static_cast<const Bits*>(x) + first;
  const Bits* const of_y = static_cast<const Bits*>(y) + first;
  for (std::size_t i = 0; i < marks.size(); ++i) marks[i] = of_x[i] == of_y[i] ? 1 : 0;
}

using MarkEqual = void (*)(const void*, const void*, std::size_t, std::span<unsigned char>);

MarkEqual mark_equal_of(Format format) {
  switch (info(format).storage_bytes) {
    case 1:
      return mark_equal<std::uint8_t>;
    case 2:
      return mark_equal<std::uint16_t>;
    case 4:
      return mark_equal<std::uint32_t>;
    default:
      return mark_equal<std::uint64_t>;
  }
}

}  // namespace

KeptBits::KeptBits(const Implementation& implementation, const Shape& shape,
                   std::span<const Output> outputs, std::span<const std::int64_t> rows,
                   std::span<const View> of_new, std::span<const View> of_old) {
  Technique technique = implementation.technique;
  technique.approximation_error = 0;
  for (const Output& output : outputs) {
    const Format format = output.operand.format;
    outputs_.push_back(
        {format, Tolerance(technique, implementation.operation->reduction(shape), format)});
  }
  std::size_t elements = 0;
  for (const std::int64_t row : rows) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto count = static_cast<std::size_t>(outputs[i].length_of(row));
      parts_.push_back({i, elements, count});
      elements += count;
    }
  }
  kept_.resize(elements);
  std::vector<std::size_t> done(outputs.size());
  for (const Part& part : parts_) {
    mark_equal_of(outputs_[part.output].format)(of_new[part.output].data, of_old[part.output].data,
                                                done[part.output],
                                                std::span(kept_).subspan(part.first, part.count));
    done[part.output] += part.count;
  }
}

bool KeptBits::any() const { return std::ranges::find(kept_, 1) != kept_.end(); }

bool KeptBits::most_moved(std::span<const Expected> of_new,
                          std::span<const Expected> of_old) const {
  std::int64_t changed = 0;
  std::int64_t kept = 0;
#pragma omp parallel for reduction(+ : changed, kept) if (kept_.size() > kFewKept)
  for (const Part& part : parts_) {
    const auto& [format, rounding] = outputs_[part.output];
    const FormatInfo& stored = info(format);
    for (std::size_t i = part.first; i < part.first + part.count; ++i) {
      if (!moved(of_new[i], of_old[i], stored, rounding)) continue;
      ++changed;
      kept += kept_[i];
    }
  }
  return 2 * kept > changed;
}

std::vector<bool> KeptBits::moved_outputs(std::span<const Expected> of_new,
                                          std::span<const Expected> of_old) const {
  std::vector<double> margin(outputs_.size());  // elements that moved, less a tenth of all
  for (const Part& part : parts_) {
    const auto& [format, rounding] = outputs_[part.output];
    for (std::size_t i = part.first; i < part.first + part.count; ++i) {
      margin[part.output] += moved(of_new[i], of_old[i], info(format), rounding) ? 1 : 0;
    }
    margin[part.output] -= kHardlyAny * static_cast<double>(part.count);
  }
  std::vector<bool> found(outputs_.size());
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = margin[i] > 0;
  return found;
}

}  // namespace ridgebench
