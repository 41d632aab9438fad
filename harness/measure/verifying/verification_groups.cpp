#include <algorithm>
#include <array>
#include <cmath>

#include "harness/measure/verifying/verification.hpp"
#include "harness/measure/verifying/worst.hpp"
#include "kernels/common/ceil_div.hpp"

namespace ridgebench {
namespace {

// See compare_groups().
constexpr double kDeviations = 6;

// Compares the sums of the groups of a row, of which `expected` are the references.
void compare_sums_of_row(const Tolerance& allowed, View output, std::int64_t row,
                         std::int64_t length, const Groups& groups,
                         std::span<const Expected> expected, Largest& largest) {
  std::array<double, kComparedBlock> some;
  const std::int64_t width = groups.width(length);
  double sum = 0;
  double squares = 0;
  std::int64_t in_group = 0;
  for (std::int64_t i = 0; i < width; ++i) {
    const std::int64_t at = i % kComparedBlock;
    if (at == 0) {
      output.read(
          row * length + groups.first + i,
          std::span(some).first(static_cast<std::size_t>(std::min(kComparedBlock, width - i))));
    }
    const double x = some[static_cast<std::size_t>(at)];
    sum += groups.signs[static_cast<std::size_t>(groups.first + i)] * x;
    squares += x * x;
    if (++in_group < groups.length && i + 1 < width) continue;
    const Expected& e = expected[static_cast<std::size_t>(i / groups.length)];
    largest.add(std::abs(sum - e.value), kDeviations * allowed({std::sqrt(squares), e.norm}), true);
    sum = squares = 0;
    in_group = 0;
  }
}

}  // namespace

Verification compare_groups(const Implementation& implementation, const Problem& problem,
                            View output, const Groups& groups, std::span<const View> inputs,
                            std::int64_t most_groups) {
  const Tolerance allowed = tolerance_of(implementation, problem.shape, output.format);
  const std::int64_t length = problem.outputs.front().row_length;
  const std::vector<std::int64_t> all = problem.all_rows();
  const std::int64_t in_row = ceil_div(length, groups.length);
  const auto block = static_cast<std::size_t>(std::max<std::int64_t>(1, most_groups / in_row));
  const std::int64_t columns = std::min(in_row, most_groups) * groups.length;
  Verification result;
  for (std::size_t row = 0; row < all.size(); row += block) {
    const auto rows = std::span(all).subspan(row, std::min(block, all.size() - row));
    for (std::int64_t first = 0; first < length; first += columns) {
      const Groups part{groups.length, groups.signs, first, std::min(columns, length - first)};
      const auto expected = reference_of(problem, inputs, rows, part);
      const auto of_row = expected.size() / rows.size();
      add(result, largest_of(std::ssize(rows), [&](std::int64_t r, Largest& largest) {
            const auto at = static_cast<std::size_t>(r);
            compare_sums_of_row(allowed, output, rows[at], length, part,
                                std::span(expected).subspan(at * of_row, of_row), largest);
          }));
    }
  }
  return result;
}

}  // namespace ridgebench
