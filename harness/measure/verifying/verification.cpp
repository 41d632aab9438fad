#include "harness/measure/verifying/verification.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/measure/verifying/worst.hpp"
#include "kernels/common/ceil_div.hpp"

namespace ridgebench {
namespace {

// Rounds to the output's format as a correct kernel does in its last step.
double rounded(double value, Format format) {
  const FormatInfo& f = info(format);
  if (format == Format::fp32) return static_cast<float>(value);
  if (format == Format::fp64 || format == Format::int32) return value;
  return decode_bits(f, encode_bits(f, static_cast<float>(value)));
}

}  // namespace

double tolerance(const Implementation& implementation, const Shape& shape, Format output,
                 Expected expected) {
  return tolerance_of(implementation, shape, output)(expected);
}

namespace {

// Returns true if an element may change `largest`: its error is larger, it may be the first that is
// not exact, or its reference is unknown. Most blocks have none, and this loop runs in vectors.
bool matters(const Tolerance& tolerance, std::span<const double> values,
             std::span<const Expected> expected, const Largest& largest) {
  int differs = 0;
  int larger = 0;
  int unknown = 0;
#pragma omp simd reduction(| : differs, larger, unknown)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double deviation = std::abs(values[i] - expected[i].value);
    differs |= deviation == 0 ? 0 : 1;  // 1 for NaN, as in the next line
    larger |= deviation <= largest.error * tolerance(expected[i]) ? 0 : 1;
    unknown |= is_comparable(expected[i]) ? 0 : 1;
  }
  return larger != 0 || unknown != 0 || (differs != 0 && largest.exact) || largest.elements == 0;
}

// Counts the elements for which a zero would pass, until one is found for which it would not.
void count_zeros(const Tolerance& tolerance, std::span<const Expected> expected, Largest& largest) {
  if (largest.refuses_zero) return;
  for (const Expected& e : expected) {
    if (std::abs(e.value) > tolerance(e)) {
      largest.refuses_zero = true;
      return;
    }
    if (std::abs(e.value) > tolerance.smallest_value()) ++largest.takes_zero;
  }
}

// Compares elements of an output, the first of which is `first`.
void compare_block(const Tolerance& tolerance, View output, std::int64_t first,
                   std::span<const Expected> expected, Largest& largest) {
  std::array<double, kComparedBlock> storage;
  const auto values = std::span(storage).first(expected.size());
  output.read(first, values);
  count_zeros(tolerance, expected, largest);
  if (!matters(tolerance, values, expected, largest)) {
    largest.elements += std::ssize(values);
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Expected& e = expected[i];
    if (!is_comparable(e)) largest.unknown = e;
    // rounded() overflows as a correct kernel does, so an output that overflowed may be exact.
    const bool exact = values[i] == e.value || values[i] == rounded(e.value, output.format);
    const double error = exact ? 0 : std::abs(values[i] - e.value);
    largest.add(error, tolerance(e), exact);
  }
}

// An output, its rows that are compared, and its tolerance.
struct Part {
  Output output;
  View view;
  Tolerance allowed;
};

std::vector<Part> parts_of(const Implementation& implementation, const Problem& problem,
                           std::span<const View> views) {
  std::vector<Part> parts;
  for (const Output& output : problem.outputs) {
    const View view = views[parts.size()];
    parts.push_back({output, view, tolerance_of(implementation, problem.shape, view.format)});
  }
  return parts;
}

// Compares one row, number `r` of those that the views hold, of every output.
void compare_row(std::span<const Part> parts, std::size_t r, std::int64_t row,
                 std::span<const Expected> expected, Largest& largest) {
  for (const Part& part : parts) {
    const auto length = static_cast<std::size_t>(part.output.length_of(row));
    const std::int64_t first = static_cast<std::int64_t>(r) * part.output.row_length;
    for (std::size_t i = 0; i < length; i += kComparedBlock) {
      compare_block(part.allowed, part.view, first + static_cast<std::int64_t>(i),
                    expected.subspan(i, std::min<std::size_t>(kComparedBlock, length - i)),
                    largest);
    }
    expected = expected.subspan(length);
  }
}

// Compares rows with what expected_of(r, memory) returns: the row number `r` of all outputs, which
// may lie in `memory`. Each block has such memory for its rows, one after the other.
template <class ExpectedOf>
Verification compare_rows(const Implementation& implementation, const Problem& problem,
                          std::span<const View> outputs, std::span<const std::int64_t> rows,
                          ExpectedOf expected_of) {
  const std::vector<Part> parts = parts_of(implementation, problem, outputs);
  // One block is at least a row, and Largest has its own line of the cache only for long blocks.
  const std::int64_t rows_of_block =
      std::max<std::int64_t>(1, 16 * kComparedBlock / problem.row_elements);
  const std::int64_t blocks = ceil_div(std::ssize(rows), rows_of_block);
  return largest_of(blocks, [&](std::int64_t b, Largest& largest) {
    const auto end = static_cast<std::size_t>(std::min((b + 1) * rows_of_block, std::ssize(rows)));
    std::vector<Expected> memory;
    for (auto r = static_cast<std::size_t>(b * rows_of_block); r < end; ++r) {
      compare_row(parts, r, rows[r], expected_of(r, memory), largest);
    }
  });
}

}  // namespace

Verification compare(const Implementation& implementation, const Problem& problem,
                     std::span<const View> outputs, std::span<const std::int64_t> rows,
                     std::span<const Expected> expected) {
  const auto length = static_cast<std::size_t>(problem.row_elements);
  return compare_rows(
      implementation, problem, outputs, rows,
      [&](std::size_t r, const auto& /*memory*/) { return expected.subspan(r * length); });
}

Verification compare(const Implementation& implementation, const Problem& problem,
                     std::span<const View> outputs, std::span<const std::int64_t> rows,
                     std::span<const View> inputs) {
  const auto whole = static_cast<std::size_t>(problem.row_elements);
  const auto last = static_cast<std::size_t>(problem.elements_of(rows.last(1)));
  return compare_rows(implementation, problem, outputs, rows,
                      [&](std::size_t r, std::vector<Expected>& memory) {
                        memory.resize(r + 1 == rows.size() ? last : whole);
                        problem.operation->reference(problem.shape, rows[r], inputs, memory);
                        return std::span<const Expected>(memory);
                      });
}

Verification compare_elements(const Implementation& implementation, const Shape& shape, View output,
                              std::span<const Expected> expected) {
  constexpr std::int64_t kElements = 16 * kComparedBlock;  // see compare_rows()
  const Tolerance allowed = tolerance_of(implementation, shape, output.format);
  const std::int64_t blocks = ceil_div(std::ssize(expected), kElements);
  return largest_of(blocks, [&](std::int64_t b, Largest& largest) {
    const std::int64_t end = std::min((b + 1) * kElements, std::ssize(expected));
    for (std::int64_t i = b * kElements; i < end; i += kComparedBlock) {
      compare_block(allowed, output, i,
                    expected.subspan(static_cast<std::size_t>(i),
                                     static_cast<std::size_t>(std::min(kComparedBlock, end - i))),
                    largest);
    }
  });
}

void add(Verification& result, const Verification& other) {
  result.elements += other.elements;
  result.exact = result.exact && other.exact;
  if (other.error > result.error) {
    result.error = other.error;
    result.tolerance = other.tolerance;
  }
}

}  // namespace ridgebench
