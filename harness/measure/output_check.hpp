// Checks the outputs of a row's launches: against the reference, for NaN, and against a witness.
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
  // The seed chooses the rows of a large output that are compared.
  OutputCheck(Device& device, std::uint64_t seed) : device_(&device), seed_(seed) {}

  // Each returns why the output is wrong, empty where it is right, and adds to `result` what was
  // compared. Before the timing the first buffer set is checked.
  std::optional<std::string> before_timing(const Case& row, const BufferSet& set,
                                           Verification& result);
  std::optional<std::string> after_timing(const Case& row, std::span<const BufferSet> sets,
                                          Verification& result);

  // Equal for outputs with equal bits.
  std::uint64_t checksum(const Case& row, const BufferSet& set);

 private:
  struct Checked {  // buffer set `index` of `count`
    const BufferSet* set;
    std::size_t index;
    std::size_t count;
  };

  const std::vector<Expected>& reference(const Case& row, const Checked& checked,
                                         std::span<const std::int64_t> rows);
  Verification compare_set(const Case& row, const Checked& checked);
  bool has_nan(const Case& row, const BufferSet& set);

  Device* device_;
  std::uint64_t seed_;
  ReferenceCache references_;
  std::vector<HostBuffer> input_copies_;  // kept, because gigabytes are slow to ask for again
};

}  // namespace ridgebench
