#include "harness/measure/output_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Limit of the input bytes that the comparison after the timing reads back.
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

// Elements outside the sample may have larger terms than those inside.
constexpr double kBeyondTheSample = 1.5;

// Returns the other fast techniques of the case's operation, format and backend, libraries first.
std::vector<const Implementation*> candidates(const Case& c) {
  std::vector<const Implementation*> found;
  for (const auto& i : Registry::instance().implementations()) {
    const Technique& t = i->technique;
    if (i->operation == c.operation && i->backend == c.implementation->backend &&
        i->format == c.format && t.name != c.technique.name && t.pace == Pace::fast) {
      found.push_back(i.get());
    }
  }
  std::ranges::stable_partition(
      found, [](const Implementation* i) { return i->technique.origin == Origin::library; });
  return found;
}

// Runs the witness on the case's inputs. Returns false if it cannot run the shape.
bool run(Device& device, const Case& c, const Implementation& witness, const BufferSet& set) {
  if (witness.unsupported(device.machine(), c.shape)) return false;
  try {
    Queue& queue = device.queue();
    const Plan plan = witness.prepare ? witness.prepare(queue, c.shape) : nullptr;
    device.run(witness.bind(queue, plan, c.shape, set));
    return true;
  } catch (const Unsupported&) {
    return false;
  } catch (const OutOfMemory&) {
    return false;
  }
}

// Returns the absolute part of the bound on the difference of two right outputs, from the largest
// terms of the sample. The relative part is one rounding of each output to its format.
double absolute_tolerance(const Case& c, const Implementation& witness,
                          std::span<const Expected> expected) {
  const Format format = c.operands().back().format;
  double largest = 0;
  for (const Expected& e : expected) {
    const Expected terms{0, e.norm};
    largest = std::max(largest, tolerance(*c.implementation, c.shape, format, terms) +
                                    tolerance(witness, c.shape, format, terms));
  }
  return kBeyondTheSample * largest;
}

// The share of a check's cost that buffer set `index` may take. All sets after the first together
// cost as much as the first.
double share(std::size_t index, std::size_t count) {
  return index == 0 ? 1 : 1 / static_cast<double>(count);
}

}  // namespace

// Computes the expected rows from a copy of the inputs, unless the cache holds them.
const std::vector<Expected>& OutputCheck::reference(const Case& c, const Checked& checked,
                                                    std::span<const std::int64_t> rows) {
  const auto inputs = [&] {
    const std::vector<Operand> operands = c.operands();
    input_copies_.resize(std::max(input_copies_.size(), operands.size()));
    std::vector<View> views;
    for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
      const DeviceMemory::Region region = region_of(operands[i], (*checked.set)[i]);
      views.push_back(
          {device_->memory().on_host({&region, 1}, input_copies_[i]), operands[i].format});
    }
    return views;
  };
  // The checked rows of all sets after the first depend on the number of sets.
  const std::string key =
      fmt::format("{}/{}/{}/{} of {}", c.operation->name, c.format.name(), c.shape.text(),
                  checked.index, checked.index == 0 ? 1 : checked.count);
  return references_.get(key, *c.operation, c.shape, inputs, rows);
}

Verification OutputCheck::compare_set(const Case& c, const Checked& checked) {
  const auto rows =
      rows_to_check(*c.operation, c.shape, seed_, share(checked.index, checked.count));
  HostBuffer copy;
  const View sampled =
      read_rows(device_->memory(), *c.implementation, c.shape, rows, checked.set->back(), copy);
  Verification result =
      compare(*c.implementation, c.shape, sampled, rows, reference(c, checked, rows));
  if (has_nan(c, *checked.set)) {
    result.error = std::numeric_limits<double>::infinity();
    result.exact = false;
  }
  return result;
}

// A NaN is an element that the kernel did not write: finite inputs produce no NaN.
bool OutputCheck::has_nan(const Case& c, const BufferSet& set) {
  const Operand output = c.operands().back();
  return device_->memory().has_nan(set.back(), output.elements, output.format);
}

std::optional<std::string> OutputCheck::before_timing(const Case& c, const BufferSet& set,
                                                      Verification& result) {
  const Checked first{&set, 0, 1};
  result = compare_set(c, first);
  if (!result.passed()) return wrong_reason(result, "before");
  const bool everything = result.elements == c.operands().back().elements;
  if (everything || device_->backend() == Backend::cpu) return std::nullopt;
  const auto rows = rows_to_check(*c.operation, c.shape, seed_);
  result.witness = ask_witness(*device_, c, set, rows, reference(c, first, rows));
  if (!result.witness || result.witness->error <= 1) return std::nullopt;
  return fmt::format("the output differs from that of {} by {:.3g} x the tolerance",
                     result.witness->technique, result.witness->error);
}

std::optional<std::string> OutputCheck::after_timing(const Case& c, std::span<const BufferSet> sets,
                                                     Verification& result) {
  const double input_bytes = std::max(1.0, bytes_read(c.operands()));
  const auto affordable =
      static_cast<std::size_t>(std::max(2.0, kAffordableInputBytes / input_bytes));
  const std::size_t step = (sets.size() + affordable - 1) / affordable;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (i % step != 0 && i + 1 != sets.size()) {
      if (has_nan(c, sets[i])) return fmt::format("after timing, buffer set {} holds NaN", i);
      continue;
    }
    const Verification v = compare_set(c, {&sets[i], i, sets.size()});
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

std::uint64_t OutputCheck::checksum(const Case& c, const BufferSet& set) {
  return device_->memory().checksum(region_of(c.operands().back(), set.back()));
}

std::optional<Witness> ask_witness(Device& device, const Case& c, const BufferSet& set,
                                   std::span<const std::int64_t> rows,
                                   std::span<const Expected> expected) {
  const Operand output = c.operands().back();
  std::shared_ptr<void> memory;
  try {
    memory = device.queue().allocate(static_cast<std::size_t>(output.bytes()));
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
  BufferSet with_own_output = set;
  with_own_output.back() = memory.get();
  for (const Implementation* witness : candidates(c)) {
    if (!run(device, c, *witness, with_own_output)) continue;
    HostBuffer copy;
    const View sampled = read_rows(device.memory(), *witness, c.shape, rows, memory.get(), copy);
    if (!compare(*witness, c.shape, sampled, rows, expected).passed()) continue;
    const double relative = info(output.format).epsilon();
    return Witness{
        std::string(witness->technique.name),
        device.memory().largest_difference(set.back(), memory.get(), output.elements, output.format,
                                           absolute_tolerance(c, *witness, expected), relative)};
  }
  return std::nullopt;
}

}  // namespace ridgebench
