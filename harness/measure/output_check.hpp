// Checks the outputs of a case's launches: against the reference, for NaN, and against another
// technique.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/buffers.hpp"
#include "harness/measure/case.hpp"
#include "harness/measure/verification.hpp"

namespace ridgebench {

class OutputCheck {
 public:
  // The seed chooses which rows of a large output are compared.
  OutputCheck(Device& device, std::uint64_t seed) : device_(&device), seed_(seed) {}

  // Each returns why the output is wrong, empty where it is right, and adds to `result` what was
  // compared. before_timing() checks the first buffer set, after_timing() all of them.
  std::optional<std::string> before_timing(const Case& c, const BufferSet& set,
                                           Verification& result);
  std::optional<std::string> after_timing(const Case& c, std::span<const BufferSet> sets,
                                          Verification& result);

  // Equal for outputs with equal bits.
  std::uint64_t checksum(const Case& c, const BufferSet& set);

 private:
  struct Checked {  // buffer set `index` of `count`
    const BufferSet* set;
    std::size_t index;
    std::size_t count;
  };

  const std::vector<Expected>& reference(const Case& c, const Checked& checked,
                                         std::span<const std::int64_t> rows);
  Verification compare_set(const Case& c, const Checked& checked);
  bool has_nan(const Case& c, const BufferSet& set);

  Device* device_;
  std::uint64_t seed_;
  ReferenceCache references_;
  std::vector<HostBuffer> input_copies_;  // kept, because gigabytes are slow to allocate again
};

// A check of outputs of which the reference covers a sample only. Another technique of the
// operation, a library's if there is one, runs on the same inputs and is checked on the same
// sample; then all elements of both are compared on the device. `set` holds the case's inputs and
// its output; `rows` and `expected` are the sample. Empty where no other technique serves the
// shape, agrees with the reference and finds memory for its output.
std::optional<Witness> ask_witness(Device& device, const Case& c, const BufferSet& set,
                                   std::span<const std::int64_t> rows,
                                   std::span<const Expected> expected);

}  // namespace ridgebench
