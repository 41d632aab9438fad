#include "harness/measure/witness.hpp"

#include <algorithm>

#include "harness/measure/verification.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

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

}  // namespace

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
