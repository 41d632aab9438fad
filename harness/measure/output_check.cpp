#include "harness/measure/output_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/measure/witness.hpp"

namespace ridgebench {
namespace {

// Inputs of buffer sets that are read back to be compared after the timing, bytes.
constexpr double kAffordableInputBytes = 0x1p30;

std::string wrong_reason(const Verification& v, const char* when) {
  return fmt::format("{} timing, the output differs from the reference by {:.3g} x the tolerance",
                     when, v.error);
}

double bytes_read(std::span<const Operand> operands) {
  double sum = 0;
  for (const Operand& operand : operands) {
    if (operand.access == Access::read) sum += operand.bytes();
  }
  return sum;
}

DeviceMemory::Region region_of(const Operand& operand, void* data) {
  return {static_cast<std::byte*>(data), static_cast<std::size_t>(operand.bytes())};
}

// Further sets share out what a check may cost.
double share(std::size_t index, std::size_t count) {
  return index == 0 ? 1 : 1 / static_cast<double>(count);
}

}  // namespace

// Expected values of output rows, from a copy of the inputs where they are not known yet.
const std::vector<Expected>& OutputCheck::reference(const Case& row, const Checked& checked,
                                                    std::span<const std::int64_t> rows) {
  const auto inputs = [&] {
    const std::vector<Operand> operands = row.operands();
    input_copies_.resize(std::max(input_copies_.size(), operands.size()));
    std::vector<View> views;
    for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
      const DeviceMemory::Region region = region_of(operands[i], (*checked.set)[i]);
      views.push_back(
          {device_->memory().on_host({&region, 1}, input_copies_[i]), operands[i].format});
    }
    return views;
  };
  // The rows of further sets depend on how many they are.
  const std::string key =
      fmt::format("{}/{}/{}/{} of {}", row.operation->name, row.format.name(), row.shape.text(),
                  checked.index, checked.index == 0 ? 1 : checked.count);
  return references_.get(key, *row.operation, row.shape, inputs, rows);
}

Verification OutputCheck::compare_set(const Case& row, const Checked& checked) {
  const auto rows =
      rows_to_check(*row.operation, row.shape, seed_, share(checked.index, checked.count));
  HostBuffer copy;
  const View sampled =
      read_rows(device_->memory(), *row.implementation, row.shape, rows, checked.set->back(), copy);
  Verification result =
      compare(*row.implementation, row.shape, sampled, rows, reference(row, checked, rows));
  if (has_nan(row, *checked.set)) {
    result.error = std::numeric_limits<double>::infinity();
    result.exact = false;
  }
  return result;
}

// Poisoned outputs hold NaN, and finite inputs never produce it.
bool OutputCheck::has_nan(const Case& row, const BufferSet& set) {
  const Operand output = row.operands().back();
  return device_->memory().has_nan(set.back(), output.elements, output.format);
}

std::optional<std::string> OutputCheck::before_timing(const Case& row, const BufferSet& set,
                                                      Verification& result) {
  const Checked first{&set, 0, 1};
  result = compare_set(row, first);
  if (!result.passed()) return wrong_reason(result, "before");
  const bool everything = result.elements == row.operands().back().elements;
  if (everything || device_->backend() == Backend::cpu) return std::nullopt;
  const auto rows = rows_to_check(*row.operation, row.shape, seed_);
  result.witness = ask_witness(*device_, row, set, rows, reference(row, first, rows));
  if (!result.witness || result.witness->error <= 1) return std::nullopt;
  return fmt::format("the output differs from that of {} by {:.3g} x the tolerance",
                     result.witness->technique, result.witness->error);
}

std::optional<std::string> OutputCheck::after_timing(const Case& row,
                                                     std::span<const BufferSet> sets,
                                                     Verification& result) {
  const double input_bytes = std::max(1.0, bytes_read(row.operands()));
  const auto affordable =
      static_cast<std::size_t>(std::max(2.0, kAffordableInputBytes / input_bytes));
  const std::size_t step = (sets.size() + affordable - 1) / affordable;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (i % step != 0 && i + 1 != sets.size()) {
      if (has_nan(row, sets[i])) return fmt::format("after timing, buffer set {} holds NaN", i);
      continue;
    }
    const Verification v = compare_set(row, {&sets[i], i, sets.size()});
    result.elements += v.elements;
    result.exact = result.exact && v.exact;
    if (v.error > result.error) {
      result.error = v.error;
      result.tolerance = v.tolerance;
    }
    if (!v.passed()) return wrong_reason(v, "after");
  }
  return std::nullopt;
}

std::uint64_t OutputCheck::checksum(const Case& row, const BufferSet& set) {
  return device_->memory().checksum(region_of(row.operands().back(), set.back()));
}

}  // namespace ridgebench
