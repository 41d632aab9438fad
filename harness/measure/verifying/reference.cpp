#include "harness/measure/verifying/reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "harness/device/own_work.hpp"
#include "kernels/common/ceil_div.hpp"
#include "kernels/common/random.hpp"
#include "kernels/common/reference/batched.hpp"

namespace ridgebench {
namespace {

// Cost of one output in addition to its terms, in multiply-adds of a sum. Multiply-adds of many
// rows at once take less, but each element of the inputs is packed first.
constexpr double kCostPerOutput = 15;
constexpr double kRowsAtOnce = 0.25;
constexpr double kCostOfPacking = 2;
constexpr std::uint32_t kRowStream = 0xFFFFFFFF;  // no input uses these streams
constexpr std::uint32_t kSignStream = 0xFFFFFFFE;

}  // namespace

double cost_of_rows(const Problem& problem, std::int64_t rows, std::int64_t group) {
  const auto length = static_cast<double>(problem.row_elements);
  const double terms = problem.terms;
  const auto count = static_cast<double>(rows);
  const double outputs = count * std::ceil(length / static_cast<double>(group));
  const RowsReference* const of_rows = rows_reference_of(*problem.operation);
  if (of_rows == nullptr) return outputs * (terms + kCostPerOutput);
  const std::int64_t together =
      of_rows->rows_together != nullptr ? of_rows->rows_together(problem.shape) : problem.rows;
  const auto packs = static_cast<double>(std::clamp<std::int64_t>(
      rows, 1, std::max<std::int64_t>(1, ceil_div(problem.rows, together))));
  const double packed = (packs * length + count) * terms + (group > 1 ? count * length : 0);
  return outputs * (kRowsAtOnce * terms + kCostPerOutput) + kCostOfPacking * packed;
}

std::int64_t count_to_check(const Problem& problem, double affordable) {
  if (cost_of_rows(problem, problem.rows) <= affordable) return problem.rows;
  const double fixed = cost_of_rows(problem, 0);
  const double of_a_row = cost_of_rows(problem, 2) - cost_of_rows(problem, 1);
  return std::min(problem.rows,
                  static_cast<std::int64_t>(std::max(2.0, (affordable - fixed) / of_a_row)));
}

std::vector<std::int64_t> rows_to_check(const Problem& problem, std::uint64_t seed,
                                        double affordable) {
  return rows_to_check(problem, {0, problem.rows}, seed, affordable);
}

std::vector<std::int64_t> rows_to_check(const Problem& problem, RowRange among, std::uint64_t seed,
                                        double affordable) {
  const std::int64_t count = count_to_check(problem, affordable);
  if (count >= among.count) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(among.count));
    std::iota(all.begin(), all.end(), among.first);
    return all;
  }
  std::set<std::int64_t> chosen{among.first, among.first + among.count - 1};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t draw =
        random_block(seed, kRowStream, static_cast<std::uint64_t>(i)).word[0];
    chosen.insert(among.first + static_cast<std::int64_t>(draw) % among.count);
  }
  return {chosen.begin(), chosen.end()};
}

std::optional<std::int64_t> group_to_check(const Problem& problem, double affordable) {
  const RowsReference* const of_rows = rows_reference_of(*problem.operation);
  if (of_rows == nullptr || !of_rows->sums_groups) return std::nullopt;
  const std::int64_t length = problem.outputs.front().row_length;
  std::int64_t group = 2;
  while (group < length && cost_of_rows(problem, problem.rows, group) > affordable) group *= 2;
  return std::min(group, length);
}

std::vector<double> draw_signs(const Problem& problem, std::uint64_t seed) {
  std::vector<double> signs(static_cast<std::size_t>(problem.outputs.front().row_length));
  for (std::size_t i = 0; i < signs.size(); ++i) {
    signs[i] = random_block(seed, kSignStream, i).word[0] % 2 == 0 ? 1 : -1;
  }
  return signs;
}

std::vector<Expected> reference_of(const Problem& problem, std::span<const View> inputs,
                                   std::span<const std::int64_t> rows, const Groups& groups) {
  const OwnWork own;
  const Operation& operation = *problem.operation;
  const std::int64_t length = problem.row_elements;
  const std::int64_t in_row = ceil_div(groups.width(length), groups.length);
  std::vector<Expected> values(rows.size() * static_cast<std::size_t>(in_row));
  if (const RowsReference* const of_rows = rows_reference_of(operation)) {
    of_rows->compute(problem.shape, rows, groups, inputs, values);
    return values;
  }
  // Only the operation's last row may be short.
  const auto last = static_cast<std::size_t>(problem.elements_of(rows.last(1)));
  const auto whole = static_cast<std::size_t>(length);
  if (const auto* const batched = operation.reference.target<BatchedReference>()) {
    const std::size_t elements = (rows.size() - 1) * whole + last;
    const RowsOfSet asked{{rows.begin(), rows.end()},
                          whole,
                          {inputs.begin(), inputs.end()},
                          std::span(values).first(elements)};
    batched->compute(problem.shape, {&asked, 1});
    return values;
  }
  const auto compute = [&](std::size_t i) {
    operation.reference(problem.shape, rows[i], inputs,
                        std::span(values).subspan(i * whole, i + 1 == rows.size() ? last : whole));
  };
  // A single row stays on this thread. The reference of a long row uses all threads, and that of a
  // user may throw, which no parallel region lets out.
  if (rows.size() == 1) {
    compute(0);
    return values;
  }
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < rows.size(); ++i) compute(i);
  return values;
}

const std::vector<Expected>& ReferenceCache::get(const std::string& key, const Problem& problem,
                                                 const std::function<std::vector<View>()>& inputs,
                                                 std::span<const std::int64_t> rows) {
  if (const auto known = values_.find(key); known != values_.end()) return known->second;
  return put(key, reference_of(problem, inputs(), rows));
}

bool ReferenceCache::clear() {
  const bool any = !values_.empty();
  values_.clear();
  bytes_ = 0;
  return any;
}

const std::vector<Expected>& ReferenceCache::put(const std::string& key,
                                                 std::vector<Expected> values) {
  const std::size_t bytes = values.size() * sizeof(Expected);
  if (bytes_ + bytes > most_bytes_) clear();
  bytes_ += bytes;
  return values_.emplace(key, std::move(values)).first->second;
}

}  // namespace ridgebench
