// No number without a check: outputs against the operation's reference, by one rule for the
// tolerance that follows from the operation and the technique.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/device/device_memory.hpp"
#include "harness/results/record.hpp"
#include "kernels/common/operation.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

// The rows of an output to compare: all where that is affordable, else the first, the last and a
// seeded sample between. `share` of what one row may cost is spent on this output.
std::vector<std::int64_t> rows_to_check(const Operation& operation, const Shape& shape,
                                        std::uint64_t seed, double share = 1);

// Reference values of rows, kept so that all techniques of an operation share them.
class ReferenceCache {
 public:
  // `key` names the inputs: operation, shape, format and buffer set. They are asked for only where
  // their reference is not there yet.
  const std::vector<Expected>& get(const std::string& key, const Operation& operation,
                                   const Shape& shape,
                                   const std::function<std::vector<View>()>& inputs,
                                   std::span<const std::int64_t> rows);

 private:
  std::map<std::string, std::vector<Expected>> values_;
};

// Bound on |output - value|: c u_acc sqrt(terms) ||terms||_2 + u_out |value| + the technique's
// stated error of a special function. The first is the growth of independent rounding errors in a
// sum, Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2, whose constant
// c = 8 leaves chance out; u is half the format's epsilon.
double tolerance(const Implementation& implementation, const Shape& shape, Format output,
                 Expected expected);

// Rows of an output in device memory, one behind the other, in host memory: `copy`, or in place.
View read_rows(DeviceMemory& memory, const Implementation& implementation, const Shape& shape,
               std::span<const std::int64_t> rows, void* output, HostBuffer& copy);

// Compares rows of an output, as read_rows gives them, with `expected`.
Verification compare(const Implementation& implementation, const Shape& shape, View output,
                     std::span<const std::int64_t> rows, std::span<const Expected> expected);

}  // namespace ridgebench
