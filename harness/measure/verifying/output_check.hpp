// Checks the outputs of a case for NaN and compares them with the reference and another technique.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/buffers.hpp"
#include "harness/measure/case.hpp"
#include "harness/measure/verifying/references_ahead.hpp"
#include "harness/measure/verifying/verification.hpp"

namespace ridgebench {

// Limit of the cost of a case's comparisons, in the unit of kSampleCost.
struct CheckCost {
  double first;  // of the first buffer set, before the timing
  double later;  // of all other sets together, after it
};

// A host compares all elements of every size of its sweeps. A GPU compares a sample, and all
// elements with a witness.
CheckCost default_cost(const Machine& machine);
inline CheckCost default_cost(const Device& device) { return default_cost(device.machine()); }

// Draws the seed of this process's choice of rows and signs from the operating system's entropy,
// or reads it from RIDGEBENCH_CHECK_SEED. Throws UsageError for a value that is not a seed.
std::uint64_t draw_check_seed();

class OutputCheck {
 public:
  OutputCheck(Device& device, std::uint64_t seed, CheckCost cost)
      : device_(&device), seed_(seed), cost_(cost) {}
  // `fill` and `data_seed` are those of the buffers.
  OutputCheck(Device& device, Fill fill, std::uint64_t data_seed)
      : OutputCheck(device, draw_check_seed(), default_cost(device)) {
    fill_ = fill;
    data_seed_ = data_seed;
  }

  // These return why the output is wrong; empty if it is right. They add the compared elements and
  // the largest error to `result`. before_timing() checks the first buffer set, after_timing() all.
  // after_timing() trusts bits that before_timing() found right.
  std::optional<std::string> before_timing(const Case& c, const Problem& problem,
                                           const BufferSet& set, Verification& result);
  std::optional<std::string> after_timing(const Case& c, const Problem& problem,
                                          std::span<const BufferSet> sets, Verification& result);

  // Runs `again`, which launches into poisoned outputs, and returns why these are then not the
  // outputs that the timed launches left. A kernel that stopped computing leaves the poison.
  std::optional<std::string> repeats(const Case& c, const Problem& problem,
                                     std::span<const BufferSet> sets,
                                     const std::function<void()>& again);

  // Frees the references of earlier cases. Returns false if there were none.
  bool forget_references() { return references_.clear(); }

  // The seed of other choices for this case, which differs from process to process like that of the
  // rows.
  [[nodiscard]] std::uint64_t seed_of(const Case& c) const;

  // Host memory for copies of inputs, which the cases share, because allocating gigabytes is slow.
  [[nodiscard]] std::vector<HostBuffer>& input_copies() { return input_copies_; }

 private:
  // Buffer set `index` of `count`, with the rows of its outputs that are compared.
  struct Checked {
    const Case* c;
    const Problem* problem;
    const BufferSet* set;
    std::size_t index;
    std::size_t count;
    double affordable;
    std::vector<std::int64_t> rows;

    // True if the reference of the rows is small enough to be kept.
    [[nodiscard]] bool keeps_reference() const;
  };

  [[nodiscard]] Checked checked(const Case& c, const Problem& problem,
                                std::span<const BufferSet> sets, std::size_t index) const;
  // The number of buffer sets that after_timing() compares.
  [[nodiscard]] std::size_t most_sets(const Problem& problem) const;
  // The operands that the case reads, as they were before its launch.
  std::vector<View> inputs(const Checked& checked);
  // The rows of every output, in output_copies_ or in place.
  std::vector<View> outputs(const Checked& checked, std::span<const std::int64_t> rows);
  const std::vector<Expected>& reference(const Checked& checked);
  Verification compare_set(const Checked& checked);
  void compare_sums(const Checked& checked, Verification& result);
  bool has_nan(const Problem& problem, const BufferSet& set);
  // Outputs with equal bits have equal checksums.
  std::uint64_t checksum(const Problem& problem, const BufferSet& set);

  Device* device_;
  std::uint64_t seed_;
  CheckCost cost_;
  Fill fill_ = Fill::normal;
  std::uint64_t data_seed_ = 0;
  ReferenceCache references_{most_cached_bytes()};
  std::vector<HostBuffer> input_copies_;
  std::vector<HostBuffer> output_copies_;
  std::uint64_t first_bits_ = 0;  // of the first set's output, before the timing
};

}  // namespace ridgebench
