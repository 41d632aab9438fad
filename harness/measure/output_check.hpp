// Checks the outputs of a case for NaN and compares them with the reference and another technique.
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
  // The seed chooses the rows of a large output to compare.
  OutputCheck(Device& device, std::uint64_t seed) : device_(&device), seed_(seed) {}

  // These return why the output is wrong; empty if it is right. They add the compared elements and
  // the largest error to `result`. before_timing() checks the first buffer set, after_timing() all.
  std::optional<std::string> before_timing(const Case& c, const BufferSet& set,
                                           Verification& result);
  std::optional<std::string> after_timing(const Case& c, std::span<const BufferSet> sets,
                                          Verification& result);

  // Outputs with equal bits have equal checksums.
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
  std::vector<HostBuffer> input_copies_;  // kept, because allocating gigabytes is slow
};

// Checks the elements outside the reference's sample. A witness is another technique of the
// operation, preferably of a library. It runs on the same inputs, and the function checks it on the
// same sample. Then the device compares all elements of both outputs. `set` holds the case's inputs
// and its output; `rows` and `expected` are the sample. The result is empty if no other technique
// serves the shape, agrees with the reference and has memory for its output.
std::optional<Witness> ask_witness(Device& device, const Case& c, const BufferSet& set,
                                   std::span<const std::int64_t> rows,
                                   std::span<const Expected> expected);

}  // namespace ridgebench
