#include "harness/measure/verifying/verification.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "harness/measure/verifying/tolerance.hpp"

namespace ridgebench {
namespace {

// See compare_groups().
constexpr double kDeviations = 6;
// Elements that a thread compares at once. They fit into a first-level cache.
constexpr std::int64_t kBlock = 1024;

// The worst of several comparisons.
struct Largest {
  double error = 0;  // over its tolerance
  double tolerance = 0;
  std::int64_t elements = 0;
  bool exact = true;

  void add(double deviation, double allowed, bool is_exact) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const double ratio = deviation == 0 ? 0 : allowed > 0 ? deviation / allowed : infinite;
    // Comparisons with NaN are false. An output that is NaN gets an infinite error.
    add({.error = ratio >= 0 ? ratio : infinite,
         .tolerance = allowed,
         .elements = 1,
         .exact = is_exact});
  }

  void add(const Largest& other) {
    if (other.error > error || elements == 0) {
      error = other.error;
      tolerance = other.tolerance;
    }
    elements += other.elements;
    exact = exact && other.exact;
  }
};

// Rounds to the output's format as a correct kernel does in its last step.
double rounded(double value, Format format) {
  const FormatInfo& f = info(format);
  if (format == Format::fp32) return static_cast<float>(value);
  if (format == Format::fp64 || format == Format::int32) return value;
  return decode_bits(f, encode_bits(f, static_cast<float>(value)));
}

Tolerance tolerance_of(const Implementation& implementation, const Shape& shape, Format output) {
  return {implementation.technique, implementation.operation->reduction(shape), output};
}

}  // namespace

double tolerance(const Implementation& implementation, const Shape& shape, Format output,
                 Expected expected) {
  return tolerance_of(implementation, shape, output)(expected);
}

namespace {

// Returns true if an element may change `largest`: its error is larger, or it may be the first that
// is not exact. Most blocks have none, and this loop runs in vectors.
bool matters(const Tolerance& tolerance, std::span<const double> values,
             std::span<const Expected> expected, const Largest& largest) {
  int differs = 0;
  int larger = 0;
#pragma omp simd reduction(| : differs, larger)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double deviation = std::abs(values[i] - expected[i].value);
    differs |= deviation == 0 ? 0 : 1;  // 1 for NaN, as in the next line
    larger |= deviation <= largest.error * tolerance(expected[i]) ? 0 : 1;
  }
  return larger != 0 || (differs != 0 && largest.exact) || largest.elements == 0;
}

// Compares elements of an output, the first of which is `first`.
void compare_block(const Tolerance& tolerance, View output, std::int64_t first,
                   std::span<const Expected> expected, Largest& largest) {
  std::array<double, kBlock> storage;
  const auto values = std::span(storage).first(expected.size());
  output.read(first, values);
  if (!matters(tolerance, values, expected, largest)) {
    largest.elements += std::ssize(values);
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Expected& e = expected[i];
    // rounded() overflows as a correct kernel does, so an output that overflowed may be exact.
    const bool exact = values[i] == e.value || values[i] == rounded(e.value, output.format);
    const double error = exact ? 0 : std::abs(values[i] - e.value);
    largest.add(error, tolerance(e), exact);
  }
}

// Calls compare_at(block, largest) for each of `blocks`, on all threads.
template <class F>
Verification largest_of(std::int64_t blocks, F compare_at) {
  std::vector<Largest> each(static_cast<std::size_t>(blocks));
  if (blocks == 1) {  // not in a parallel region, which would not let out an exception
    compare_at(0, each.front());
  } else {
#pragma omp parallel for schedule(static)
    for (std::int64_t b = 0; b < blocks; ++b) compare_at(b, each[static_cast<std::size_t>(b)]);
  }
  Largest all;
  for (const Largest& one : each) all.add(one);
  return {
      .error = all.error, .tolerance = all.tolerance, .elements = all.elements, .exact = all.exact};
}

// An output, its rows that are compared, and its tolerance.
struct Part {
  Output output;
  View view;
  Tolerance allowed;
};

std::vector<Part> parts_of(const Implementation& implementation, const Shape& shape,
                           std::span<const View> views) {
  std::vector<Part> parts;
  for (const Output& output : outputs_of(*implementation.operation, shape, implementation.format)) {
    const View view = views[parts.size()];
    parts.push_back({output, view, tolerance_of(implementation, shape, view.format)});
  }
  return parts;
}

// Compares one row, number `r` of those that the views hold, of every output.
void compare_row(std::span<const Part> parts, std::size_t r, std::int64_t row,
                 std::span<const Expected> expected, Largest& largest) {
  for (const Part& part : parts) {
    const auto length = static_cast<std::size_t>(part.output.length_of(row));
    const std::int64_t first = static_cast<std::int64_t>(r) * part.output.row_length;
    for (std::size_t i = 0; i < length; i += kBlock) {
      compare_block(part.allowed, part.view, first + static_cast<std::int64_t>(i),
                    expected.subspan(i, std::min<std::size_t>(kBlock, length - i)), largest);
    }
    expected = expected.subspan(length);
  }
}

// Compares rows with what expected_of(r, memory) returns: the row number `r` of all outputs, which
// may lie in `memory`.
template <class ExpectedOf>
Verification compare_rows(const Implementation& implementation, const Shape& shape,
                          std::span<const View> outputs, std::span<const std::int64_t> rows,
                          ExpectedOf expected_of) {
  const std::vector<Part> parts = parts_of(implementation, shape, outputs);
  const std::int64_t length = elements_of_row(*implementation.operation, shape);
  // One block is at least a row, and Largest has its own line of the cache only for long blocks.
  const std::int64_t rows_of_block = std::max<std::int64_t>(1, 16 * kBlock / length);
  const std::int64_t blocks = (std::ssize(rows) + rows_of_block - 1) / rows_of_block;
  return largest_of(blocks, [&](std::int64_t b, Largest& largest) {
    const auto end = static_cast<std::size_t>(std::min((b + 1) * rows_of_block, std::ssize(rows)));
    std::vector<Expected> memory(static_cast<std::size_t>(length));
    for (auto r = static_cast<std::size_t>(b * rows_of_block); r < end; ++r) {
      compare_row(parts, r, rows[r], expected_of(r, memory), largest);
    }
  });
}

}  // namespace

Verification compare(const Implementation& implementation, const Shape& shape,
                     std::span<const View> outputs, std::span<const std::int64_t> rows,
                     std::span<const Expected> expected) {
  return compare_rows(implementation, shape, outputs, rows,
                      [&](std::size_t r, std::span<Expected> memory) {
                        return expected.subspan(r * memory.size());
                      });
}

Verification compare(const Implementation& implementation, const Shape& shape,
                     std::span<const View> outputs, std::span<const std::int64_t> rows,
                     std::span<const View> inputs) {
  const Operation& operation = *implementation.operation;
  const auto last = static_cast<std::size_t>(elements_of(operation, shape, rows.last(1)));
  return compare_rows(implementation, shape, outputs, rows,
                      [&](std::size_t r, std::span<Expected> memory) {
                        const auto row = r + 1 == rows.size() ? memory.first(last) : memory;
                        operation.reference(shape, rows[r], inputs, row);
                        return std::span<const Expected>(row);
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

Verification compare_groups(const Implementation& implementation, const Shape& shape, View output,
                            const Groups& groups, std::span<const View> inputs) {
  const Operation& operation = *implementation.operation;
  const Tolerance allowed = tolerance_of(implementation, shape, output.format);
  const std::int64_t length = operation.row_length(shape);
  const std::int64_t in_row = (length + groups.length - 1) / groups.length;
  const std::vector<std::int64_t> rows = all_rows(operation, shape);
  const std::vector<Expected> expected = reference_of(operation, shape, inputs, rows, groups);
  return largest_of(std::ssize(rows), [&](std::int64_t r, Largest& largest) {
    std::vector<double> row(static_cast<std::size_t>(length));
    output.read(r * length, row);
    for (std::int64_t g = 0; g < in_row; ++g) {
      double sum = 0;
      double squares = 0;
      const auto end = static_cast<std::size_t>(std::min(length, (g + 1) * groups.length));
      for (auto j = static_cast<std::size_t>(g * groups.length); j < end; ++j) {
        sum += groups.signs[j] * row[j];
        squares += row[j] * row[j];
      }
      const Expected& e = expected[static_cast<std::size_t>(r * in_row + g)];
      const double bound = allowed({std::sqrt(squares), e.norm});
      largest.add(std::abs(sum - e.value), kDeviations * bound, true);
    }
  });
}

}  // namespace ridgebench
