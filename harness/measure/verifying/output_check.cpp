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

// True if one call of the reference computes many rows.
bool computes_blocks(const Operation& operation) {
  return rows_reference_of(operation) != nullptr ||
         operation.reference.target<BatchedReference>() != nullptr;
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

bool OutputCheck::Checked::keeps_reference() const {
  return problem->elements_of(rows) <= most_kept_elements(*problem->operation);
}

// The sets after the first share their cost.
OutputCheck::Checked OutputCheck::checked(const Case& c, const Problem& problem,
                                          std::span<const BufferSet> sets,
                                          std::size_t index) const {
  const double affordable =
      index == 0 ? cost_.first : cost_.later / static_cast<double>(sets.size());
  return {&c,
          &problem,
          &sets[index],
          index,
          sets.size(),
          affordable,
          rows_to_check(problem, seed_, affordable)};
}

std::vector<View> OutputCheck::inputs(const Checked& checked) {
  return inputs_before_launch(device_->memory(), checked.problem->operands, *checked.set,
                              checked.index, fill_, data_seed_, input_copies_);
}

std::vector<View> OutputCheck::outputs(const Checked& checked, std::span<const std::int64_t> rows) {
  return read_rows(device_->memory(), checked.problem->outputs, rows, *checked.set, output_copies_);
}

// Computes the expected rows from a copy of the inputs, unless the cache holds them.
const std::vector<Expected>& OutputCheck::reference(const Checked& checked) {
  return references_.get(
      reference_key(*checked.problem, checked.index, checked.count), *checked.problem,
      [&] { return inputs(checked); }, checked.rows);
}

Verification OutputCheck::compare_set(const Checked& checked) {
  const auto& [c, problem, set, index, count, affordable, rows] = checked;
  const Implementation& implementation = *c->implementation;
  Verification result;
  if (checked.keeps_reference()) {
    const auto& expected = reference(checked);
    result = compare(implementation, *problem, outputs(checked, rows), rows, expected);
  } else if (computes_blocks(*problem->operation)) {
    result = compare_in_blocks(*device_, implementation, *problem, *set, rows, inputs(checked),
                               kMostKeptElements);
  } else {
    result = compare(implementation, *problem, outputs(checked, rows), rows, inputs(checked));
  }
  if (has_nan(*problem, *set)) {
    result.error = std::numeric_limits<double>::infinity();
    result.exact = false;
  }
  return result;
}

// Compares all elements of a set by sums of groups, if the operation has such sums.
void OutputCheck::compare_sums(const Checked& checked, Verification& result) {
  const Problem& problem = *checked.problem;
  result.group = group_to_check(problem, checked.affordable);
  if (!result.group) return;
  const std::vector<double> signs = draw_signs(problem, seed_);
  const View output = outputs(checked, problem.all_rows()).front();
  Verification sums = compare_groups(*checked.c->implementation, problem, output,
                                     {*result.group, signs}, inputs(checked));
  sums.elements = 0;  // no element is compared by itself
  add(result, sums);
}

bool OutputCheck::has_nan(const Problem& problem, const BufferSet& set) {
  return outputs_hold_nan(device_->memory(), problem.outputs, set);
}

std::optional<std::string> OutputCheck::before_timing(const Case& c, const Problem& problem,
                                                      const BufferSet& set, Verification& result) {
  const Checked first = checked(c, problem, {&set, 1}, 0);
  result = compare_set(first);
  result.seed = seed_;
  first_bits_ = checksum(problem, set);
  if (!result.passed()) return wrong_reason(result, "before");
  if (result.elements == problem.elements) return std::nullopt;
  if (first.keeps_reference()) {
    result.witness = ask_witness(*device_, c, problem, set, first.rows, reference(first));
  }
  if (!result.witness) compare_sums(first, result);
  if (!result.passed()) return wrong_reason(result, "before");
  if (!result.witness || result.witness->error <= 1) return std::nullopt;
  return fmt::format("the output differs from that of {} by {:.3g} x the tolerance",
                     result.witness->technique, result.witness->error);
}

std::size_t OutputCheck::most_sets(const Problem& problem) const {
  double most = kAffordableInputBytes / std::max(1.0, bytes_read(problem.operands));
  // An output of one row cannot be sampled by rows.
  if (problem.rows == 1) most = std::min(most, cost_.later / cost_of_rows(problem, 1));
  return static_cast<std::size_t>(std::max(2.0, most));
}

std::optional<std::string> OutputCheck::after_timing(const Case& c, const Problem& problem,
                                                     std::span<const BufferSet> sets,
                                                     Verification& result) {
  const std::size_t most = most_sets(problem);
  const std::size_t step = (sets.size() + most - 1) / most;
  const bool moved = checksum(problem, sets.front()) != first_bits_;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (i == 0 && !moved) continue;
    if (i % step != 0 && i + 1 != sets.size()) {
      if (has_nan(problem, sets[i])) {
        return fmt::format("after timing, buffer set {} holds NaN", i);
      }
      continue;
    }
    const Checked of_set = checked(c, problem, sets, i);
    compute_ahead(device_->memory(), problem, sets, {.first = i, .step = step}, of_set.rows, fill_,
                  data_seed_, references_);
    Verification v = compare_set(of_set);
    const bool everything = v.elements == problem.elements;
    if (!everything && device_->backend() == Backend::cpu) compare_sums(of_set, v);
    add(result, v);
    if (!v.passed()) return wrong_reason(v, "after");
  }
  if (!moved || c.technique.order_dependent) return std::nullopt;
  return "a second launch gave other bits: the result moves";
}

std::optional<std::string> OutputCheck::repeats(const Case& c, const Problem& problem,
                                                std::span<const BufferSet> sets,
                                                const std::function<void()>& again) {
  std::vector<std::uint64_t> timed(sets.size());
  std::ranges::transform(sets, timed.begin(),
                         [&](const BufferSet& s) { return checksum(problem, s); });
  again();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const bool differs = c.technique.order_dependent ? has_nan(problem, sets[i])
                                                     : checksum(problem, sets[i]) != timed[i];
    if (differs) {
      return fmt::format(
          "after timing, another launch left other bits in buffer set {}: the kernel does not "
          "compute in each launch, or the result moves",
          i);
    }
  }
  return std::nullopt;
}

std::uint64_t OutputCheck::checksum(const Problem& problem, const BufferSet& set) {
  return checksum_of(device_->memory(), problem.outputs, set);
}

}  // namespace ridgebench
