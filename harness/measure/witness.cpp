#include "harness/measure/witness.hpp"

#include <algorithm>
#include <vector>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Elements outside the sample may have larger terms than any inside.
constexpr double kBeyondTheSample = 1.5;

// Other fast techniques of the row's operation, format and backend, libraries first.
std::vector<const Implementation*> candidates(const Case& row) {
  std::vector<const Implementation*> found;
  for (const auto& i : Registry::instance().implementations()) {
    const Technique& t = i->technique;
    if (i->operation == row.operation && i->backend == row.implementation->backend &&
        i->format == row.format && t.name != row.technique.name && t.pace == Pace::fast) {
      found.push_back(i.get());
    }
  }
  std::ranges::stable_partition(
      found, [](const Implementation* i) { return i->technique.origin == Origin::library; });
  return found;
}

// Runs it on the row's inputs. False where it does not serve the shape.
bool run(Device& device, const Case& row, const Implementation& witness, const BufferSet& set) {
  try {
    Queue& queue = device.queue();
    const Plan plan = witness.prepare ? witness.prepare(queue, row.shape) : nullptr;
    device.run(witness.bind(queue, plan, row.shape, set));
    return true;
  } catch (const Unsupported&) {
    return false;
  } catch (const OutOfMemory&) {
    return false;
  }
}

// Bound on the difference of two right outputs: absolute, from the sample's largest terms, and
// relative to the value, one rounding to the output each.
double absolute_tolerance(const Case& row, const Implementation& witness,
                          std::span<const Expected> expected) {
  const Format format = row.operands().back().format;
  double largest = 0;
  for (const Expected& e : expected) {
    const Expected terms{0, e.norm};
    largest = std::max(largest, tolerance(*row.implementation, row.shape, format, terms) +
                                    tolerance(witness, row.shape, format, terms));
  }
  return kBeyondTheSample * largest;
}

}  // namespace

std::optional<Witness> ask_witness(Device& device, const Case& row, const BufferSet& set,
                                   std::span<const std::int64_t> rows,
                                   std::span<const Expected> expected) {
  const Operand output = row.operands().back();
  std::shared_ptr<void> memory;
  try {
    memory = device.queue().allocate(static_cast<std::size_t>(output.bytes()));
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
  BufferSet with_own_output = set;
  with_own_output.back() = memory.get();
  for (const Implementation* witness : candidates(row)) {
    if (!run(device, row, *witness, with_own_output)) continue;
    HostBuffer copy;
    const View sampled = read_rows(device.memory(), *witness, row.shape, rows, memory.get(), copy);
    if (!compare(*witness, row.shape, sampled, rows, expected).passed()) continue;
    const double relative = info(output.format).epsilon();
    return Witness{
        std::string(witness->technique.name),
        device.memory().largest_difference(set.back(), memory.get(), output.elements, output.format,
                                           absolute_tolerance(row, *witness, expected), relative)};
  }
  return std::nullopt;
}

}  // namespace ridgebench
