#include "harness/measure/verifying/witness.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "harness/device/isolated/remote_launch.hpp"
#include "harness/measure/verifying/verification.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Elements outside the sample may have larger terms than those inside.
constexpr double kBeyondTheSample = 1.5;

// Returns the other fast techniques of the case's operation, format and backend, libraries first.
// A technique in another process does not qualify: nothing would verify what it writes.
std::vector<const Implementation*> candidates(const Case& c) {
  std::vector<const Implementation*> found;
  for (const auto& i : Registry::instance().implementations()) {
    const Technique& t = i->technique;
    if (i->operation == c.operation && i->backend == c.implementation->backend &&
        i->format == c.format && t.name != c.technique.name && t.pace == Pace::fast &&
        !is_remote(*i)) {
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

// Outputs of the witness, next to those of the case.
struct OwnOutputs {
  BufferSet set;
  std::vector<Output> outputs;
  std::vector<std::shared_ptr<void>> memory;
};

// Empty if the memory is short, or if an operand is updated in place: the case's launch changed
// what the witness would read.
std::optional<OwnOutputs> own_outputs(Device& device, const Problem& problem,
                                      const BufferSet& set) {
  OwnOutputs own{set, problem.outputs, {}};
  for (const Output& output : own.outputs) {
    if (output.operand.access == Access::updated) return std::nullopt;
    try {
      own.memory.push_back(
          device.queue().allocate(static_cast<std::size_t>(output.operand.bytes())));
    } catch (const OutOfMemory&) {
      return std::nullopt;
    }
    own.set[output.index] = own.memory.back().get();
    Buffers::guard_gaps(device.memory(), gaps_of(output.operand, own.set[output.index]));
  }
  return own;
}

// True if the witness's outputs of the sampled rows are right.
bool is_right(Device& device, const Problem& problem, const Implementation& witness,
              const OwnOutputs& own, std::span<const std::int64_t> rows,
              std::span<const Expected> expected) {
  std::vector<HostBuffer> copies;
  const std::vector<View> views = read_rows(device.memory(), own.outputs, rows, own.set, copies);
  return compare(witness, problem, views, rows, expected).passed();
}

// Returns the absolute part of the bound on the difference of two right outputs, from the largest
// terms of the sample. The relative part is one rounding of each output to its format.
double absolute_tolerance(const Case& c, const Implementation& witness, Format format,
                          std::span<const Expected> expected) {
  double largest = 0;
  for (const Expected& e : expected) {
    const Expected terms{0, e.norm};
    largest = std::max(largest, tolerance(*c.implementation, c.shape, format, terms) +
                                    tolerance(witness, c.shape, format, terms));
  }
  return kBeyondTheSample * largest;
}

// Largest difference of an output of the case from that of the witness, over the tolerance of both.
double difference(Device& device, const Case& c, const Implementation& witness,
                  const OwnOutputs& own, const Output& output, const BufferSet& set,
                  std::span<const Expected> expected) {
  const std::size_t index = output.index;
  const Operand& operand = output.operand;
  DeviceMemory& memory = device.memory();
  if (operand.format == Format::int32) {
    const bool same = memory.checksum(region_of(operand, set[index])) ==
                      memory.checksum(region_of(operand, own.set[index]));
    return same ? 0 : std::numeric_limits<double>::infinity();
  }
  return memory.largest_difference(set[index], own.set[index], operand.elements, operand.format,
                                   absolute_tolerance(c, witness, operand.format, expected),
                                   info(operand.format).epsilon());
}

}  // namespace

std::optional<Witness> ask_witness(Device& device, const Case& c, const Problem& problem,
                                   const BufferSet& set, std::span<const std::int64_t> rows,
                                   std::span<const Expected> expected) {
  const std::optional<OwnOutputs> own = own_outputs(device, problem, set);
  if (!own) return std::nullopt;
  for (const Implementation* witness : candidates(c)) {
    if (!run(device, c, *witness, own->set)) continue;
    if (!is_right(device, problem, *witness, *own, rows, expected)) continue;
    double largest = 0;
    for (const Output& output : own->outputs) {
      largest = std::max(largest, difference(device, c, *witness, *own, output, set, expected));
    }
    return Witness{witness->technique.name, largest};
  }
  return std::nullopt;
}

}  // namespace ridgebench
