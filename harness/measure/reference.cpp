#include "harness/measure/reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "kernels/common/random.hpp"

namespace ridgebench {
namespace {

// Cost of one output in addition to its terms, in multiply-adds of a sum. Multiply-adds of many
// rows at once take less, but each element of the inputs is packed first.
constexpr double kCostPerOutput = 15;
constexpr double kRowsAtOnce = 0.25;
constexpr double kCostOfPacking = 2;
constexpr std::uint32_t kRowStream = 0xFFFFFFFF;  // no input uses these streams
constexpr std::uint32_t kSignStream = 0xFFFFFFFE;
// Limit of the reference values that the cache keeps.
constexpr std::size_t kMostCachedBytes = std::size_t{1} << 28U;

std::int64_t output_elements(const Operation& operation, const Shape& shape, Format format) {
  return operation.operands(shape, format).back().elements;
}

// Returns the elements of row `row`. The last row may be short.
std::int64_t length_of(std::int64_t row, std::int64_t row_length, std::int64_t elements) {
  return std::min(row_length, elements - row * row_length);
}

// Cost of the reference of `rows` rows, in groups.
double cost(const Operation& operation, const Shape& shape, std::int64_t rows,
            std::int64_t group = 1) {
  const auto length = static_cast<double>(operation.row_length(shape));
  const double terms = operation.reduction(shape);
  const auto count = static_cast<double>(rows);
  const double outputs = count * std::ceil(length / static_cast<double>(group));
  if (rows_reference_of(operation) == nullptr) return outputs * (terms + kCostPerOutput);
  const double packed = (length + count) * terms + (group > 1 ? count * length : 0);
  return outputs * (kRowsAtOnce * terms + kCostPerOutput) + kCostOfPacking * packed;
}

std::int64_t row_count(const Operation& operation, const Shape& shape) {
  const std::int64_t length = operation.row_length(shape);
  return (output_elements(operation, shape, operation.formats.front().a) + length - 1) / length;
}

}  // namespace

std::int64_t elements_of(const Operation& operation, const Shape& shape,
                         std::span<const std::int64_t> rows) {
  const std::int64_t length = operation.row_length(shape);
  const std::int64_t elements = output_elements(operation, shape, operation.formats.front().a);
  return (std::ssize(rows) - 1) * length + length_of(rows.back(), length, elements);
}

std::vector<std::int64_t> all_rows(const Operation& operation, const Shape& shape) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(row_count(operation, shape)));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

std::vector<std::int64_t> rows_to_check(const Operation& operation, const Shape& shape,
                                        std::uint64_t seed, double affordable) {
  const std::int64_t rows = row_count(operation, shape);
  if (cost(operation, shape, rows) <= affordable) return all_rows(operation, shape);
  const double fixed = cost(operation, shape, 0);
  const double of_a_row = cost(operation, shape, 1) - fixed;
  const auto count = static_cast<std::int64_t>(std::max(2.0, (affordable - fixed) / of_a_row));
  std::set<std::int64_t> chosen{0, rows - 1};
  for (std::int64_t i = 0; i < std::min(rows, count); ++i) {
    const std::uint32_t draw =
        random_block(seed, kRowStream, static_cast<std::uint64_t>(i)).word[0];
    chosen.insert(static_cast<std::int64_t>(draw) % rows);
  }
  return {chosen.begin(), chosen.end()};
}

std::optional<std::int64_t> group_to_check(const Operation& operation, const Shape& shape,
                                           double affordable) {
  const RowsReference* const of_rows = rows_reference_of(operation);
  if (of_rows == nullptr || !of_rows->sums_groups) return std::nullopt;
  const std::int64_t rows = row_count(operation, shape);
  const std::int64_t length = operation.row_length(shape);
  std::int64_t group = 2;
  while (group < length && cost(operation, shape, rows, group) > affordable) group *= 2;
  return std::min(group, length);
}

std::vector<double> draw_signs(const Operation& operation, const Shape& shape, std::uint64_t seed) {
  std::vector<double> signs(static_cast<std::size_t>(operation.row_length(shape)));
  for (std::size_t i = 0; i < signs.size(); ++i) {
    signs[i] = random_block(seed, kSignStream, i).word[0] % 2 == 0 ? 1 : -1;
  }
  return signs;
}

std::vector<Expected> reference_of(const Operation& operation, const Shape& shape,
                                   std::span<const View> inputs, std::span<const std::int64_t> rows,
                                   const Groups& groups) {
  const std::int64_t length = operation.row_length(shape);
  const std::int64_t elements = output_elements(operation, shape, operation.formats.front().a);
  const std::int64_t in_row = (length + groups.length - 1) / groups.length;
  std::vector<Expected> values(rows.size() * static_cast<std::size_t>(in_row));
  if (const RowsReference* const of_rows = rows_reference_of(operation)) {
    of_rows->compute(shape, rows, groups, inputs, values);
    return values;
  }
  const auto compute = [&](std::size_t i) {
    const auto count = static_cast<std::size_t>(length_of(rows[i], length, elements));
    operation.reference(shape, rows[i], inputs,
                        std::span(values).subspan(i * static_cast<std::size_t>(length), count));
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

const std::vector<Expected>& ReferenceCache::get(const std::string& key, const Operation& operation,
                                                 const Shape& shape,
                                                 const std::function<std::vector<View>()>& inputs,
                                                 std::span<const std::int64_t> rows) {
  if (const auto known = values_.find(key); known != values_.end()) return known->second;
  std::vector<Expected> values = reference_of(operation, shape, inputs(), rows);
  const std::size_t bytes = values.size() * sizeof(Expected);
  if (bytes_ + bytes > kMostCachedBytes) {
    values_.clear();
    bytes_ = 0;
  }
  bytes_ += bytes;
  return values_.emplace(key, std::move(values)).first->second;
}

}  // namespace ridgebench
