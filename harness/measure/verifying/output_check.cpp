#include "harness/measure/verifying/output_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "harness/measure/verifying/inputs.hpp"
#include "harness/measure/verifying/references_ahead.hpp"
#include "harness/measure/verifying/witness.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"
#include "kernels/common/reference/batched.hpp"

namespace ridgebench {
namespace {

// Takes a few seconds of each thread at most. The products of a sweep, which grow with the rate of
// the machine, take a few tenths.
constexpr double kHostCostOfAThread = 5e9;
constexpr const char* kCheckSeedVariable = "RIDGEBENCH_CHECK_SEED";
constexpr auto kLargestCheckSeed = static_cast<std::uint64_t>(kLargestCount);
// Limit of the input bytes that the comparison after the timing reads back.
constexpr double kAffordableInputBytes = 0x1p30;

std::string wrong_reason(const Verification& v, const char* when) {
  return fmt::format("{} timing, the output differs from the reference by {:.3g} x the tolerance",
                     when, v.error);
}

double bytes_read(std::span<const Operand> operands) {
  double sum = 0;
  for (const Operand& operand : operands) {
    if (operand.is_input()) sum += operand.bytes();
  }
  return sum;
}

// Whether the reference of these rows is small enough to be kept.
bool keeps_reference(const Case& c, std::span<const std::int64_t> rows) {
  return elements_of(*c.operation, c.shape, rows) <= most_kept_elements(*c.operation);
}

// Whether one call of the reference computes many rows.
bool computes_blocks(const Operation& operation) {
  return rows_reference_of(operation) != nullptr ||
         operation.reference.target<BatchedReference>() != nullptr;
}

// Of all outputs together.
std::int64_t output_elements(const Case& c) {
  std::int64_t elements = 0;
  for (const Operand& operand : c.operands())
    elements += operand.is_output() ? operand.elements : 0;
  return elements;
}

}  // namespace

CheckCost default_cost(const Machine& machine) {
  if (machine.compute_capability > 0) return {kSampleCost, kSampleCost};
  return {kHostCostOfAThread * machine.units, kSampleCost};
}

std::uint64_t draw_check_seed() {
  if (const char* text = std::getenv(kCheckSeedVariable); text != nullptr && *text != 0) {
    std::uint64_t seed = 0;
    const char* end = text + std::strlen(text);
    const auto [last, error] = std::from_chars(text, end, seed);
    if (error == std::errc{} && last == end && seed <= kLargestCheckSeed) return seed;
    throw UsageError(
        fmt::format("{}='{}' is not a whole number from 0 to 2^53", kCheckSeedVariable, text));
  }
  std::random_device entropy;
  return (std::uint64_t{entropy()} << 32U | entropy()) & (kLargestCheckSeed - 1);
}

std::uint64_t OutputCheck::seed_of(const Case& c) const {
  return seed_ ^ std::hash<std::string>()(c.id());
}

// The sets after the first share their cost.
double OutputCheck::affordable(const Checked& checked) const {
  return checked.index == 0 ? cost_.first : cost_.later / static_cast<double>(checked.count);
}

std::vector<View> OutputCheck::inputs(const Case& c, const Checked& checked) {
  return inputs_before_launch(device_->memory(), c.operands(), *checked.set, checked.index, fill_,
                              data_seed_, input_copies_);
}

std::vector<View> OutputCheck::outputs(const Case& c, const BufferSet& set,
                                       std::span<const std::int64_t> rows) {
  return read_rows(device_->memory(), outputs_of(*c.operation, c.shape, c.format), rows, set,
                   output_copies_);
}

// Computes the expected rows from a copy of the inputs, unless the cache holds them.
const std::vector<Expected>& OutputCheck::reference(const Case& c, const Checked& checked,
                                                    std::span<const std::int64_t> rows) {
  return references_.get(
      reference_key(c, checked.index, checked.count), *c.operation, c.shape,
      [&] { return inputs(c, checked); }, rows);
}

Verification OutputCheck::compare_set(const Case& c, const Checked& checked) {
  const auto rows = rows_to_check(*c.operation, c.shape, seed_, affordable(checked));
  Verification result;
  if (keeps_reference(c, rows)) {
    const auto& expected = reference(c, checked, rows);
    result = compare(*c.implementation, c.shape, outputs(c, *checked.set, rows), rows, expected);
  } else if (computes_blocks(*c.operation)) {
    result = compare_in_blocks(*device_, *c.implementation, c.shape, *checked.set, rows,
                               inputs(c, checked), kMostKeptElements);
  } else {
    result = compare(*c.implementation, c.shape, outputs(c, *checked.set, rows), rows,
                     inputs(c, checked));
  }
  if (has_nan(c, *checked.set)) {
    result.error = std::numeric_limits<double>::infinity();
    result.exact = false;
  }
  return result;
}

// Compares all elements of a set by sums of groups, if the operation has such sums.
void OutputCheck::compare_sums(const Case& c, const Checked& checked, Verification& result) {
  result.group = group_to_check(*c.operation, c.shape, affordable(checked));
  if (!result.group) return;
  const std::vector<double> signs = draw_signs(*c.operation, c.shape, seed_);
  const auto rows = all_rows(*c.operation, c.shape);
  const View output = outputs(c, *checked.set, rows).front();
  Verification sums = compare_groups(*c.implementation, c.shape, output, {*result.group, signs},
                                     inputs(c, checked));
  sums.elements = 0;  // no element is compared by itself
  add(result, sums);
}

bool OutputCheck::has_nan(const Case& c, const BufferSet& set) {
  return outputs_hold_nan(device_->memory(), outputs_of(*c.operation, c.shape, c.format), set);
}

std::optional<std::string> OutputCheck::before_timing(const Case& c, const BufferSet& set,
                                                      Verification& result) {
  const Checked first{&set, 0, 1};
  result = compare_set(c, first);
  result.seed = seed_;
  first_bits_ = checksum(c, set);
  if (!result.passed()) return wrong_reason(result, "before");
  if (result.elements == output_elements(c)) return std::nullopt;
  const auto rows = rows_to_check(*c.operation, c.shape, seed_, affordable(first));
  if (keeps_reference(c, rows)) {
    result.witness = ask_witness(*device_, c, set, rows, reference(c, first, rows));
  }
  if (!result.witness) compare_sums(c, first, result);
  if (!result.passed()) return wrong_reason(result, "before");
  if (!result.witness || result.witness->error <= 1) return std::nullopt;
  return fmt::format("the output differs from that of {} by {:.3g} x the tolerance",
                     result.witness->technique, result.witness->error);
}

std::size_t OutputCheck::most_sets(const Case& c) const {
  double most = kAffordableInputBytes / std::max(1.0, bytes_read(c.operands()));
  // An output of one row cannot be sampled by rows.
  const std::int64_t rows = row_count(*c.operation, c.shape);
  if (rows == 1) most = std::min(most, cost_.later / cost_of_rows(*c.operation, c.shape, 1));
  return static_cast<std::size_t>(std::max(2.0, most));
}

std::optional<std::string> OutputCheck::after_timing(const Case& c, std::span<const BufferSet> sets,
                                                     Verification& result) {
  const std::size_t most = most_sets(c);
  const std::size_t step = (sets.size() + most - 1) / most;
  const bool moved = checksum(c, sets.front()) != first_bits_;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (i == 0 && !moved) continue;
    if (i % step != 0 && i + 1 != sets.size()) {
      if (has_nan(c, sets[i])) return fmt::format("after timing, buffer set {} holds NaN", i);
      continue;
    }
    const Checked checked{&sets[i], i, sets.size()};
    compute_ahead(c, sets, {.first = i, .step = step},
                  rows_to_check(*c.operation, c.shape, seed_, affordable(checked)), fill_,
                  data_seed_, references_);
    Verification v = compare_set(c, checked);
    const bool everything = v.elements == output_elements(c);
    if (!everything && device_->backend() == Backend::cpu) compare_sums(c, checked, v);
    add(result, v);
    if (!v.passed()) return wrong_reason(v, "after");
  }
  if (!moved || c.technique.order_dependent) return std::nullopt;
  return "a second launch gave other bits: the result moves";
}

std::optional<std::string> OutputCheck::repeats(const Case& c, std::span<const BufferSet> sets,
                                                const std::function<void()>& again) {
  std::vector<std::uint64_t> timed(sets.size());
  std::ranges::transform(sets, timed.begin(), [&](const BufferSet& s) { return checksum(c, s); });
  again();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const bool differs =
        c.technique.order_dependent ? has_nan(c, sets[i]) : checksum(c, sets[i]) != timed[i];
    if (differs) {
      return fmt::format(
          "after timing, another launch left other bits in buffer set {}: the kernel does not "
          "compute in each launch, or the result moves",
          i);
    }
  }
  return std::nullopt;
}

std::uint64_t OutputCheck::checksum(const Case& c, const BufferSet& set) {
  return checksum_of(device_->memory(), outputs_of(*c.operation, c.shape, c.format), set);
}

}  // namespace ridgebench
