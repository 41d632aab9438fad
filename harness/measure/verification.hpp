// Compares outputs with the operation's reference. One rule derives the tolerance from the
// operation and the technique.
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

// The output rows to compare: all where that is affordable, else the first, the last and a seeded
// sample between. `share` scales the cost that is affordable.
std::vector<std::int64_t> rows_to_check(const Operation& operation, const Shape& shape,
                                        std::uint64_t seed, double share = 1);

// Reference values of rows, kept so that all techniques of an operation share them.
class ReferenceCache {
 public:
  // `key` names the inputs: operation, shape, format and buffer set. `inputs` is called only if the
  // cache does not hold their reference.
  const std::vector<Expected>& get(const std::string& key, const Operation& operation,
                                   const Shape& shape,
                                   const std::function<std::vector<View>()>& inputs,
                                   std::span<const std::int64_t> rows);

 private:
  std::map<std::string, std::vector<Expected>> values_;
};

// Bound on |output - value|: c u_acc sqrt(terms) ||terms||_2 + u_out |value| + the technique's
// stated errors. The first is the growth of independent rounding errors in a
// sum, Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2, whose constant
// c = 8 leaves chance out; u is half the format's epsilon.
double tolerance(const Implementation& implementation, const Shape& shape, Format output,
                 Expected expected);

// Rows of an output in device memory, one behind the other, as the host reads them: in `copy` or in
// place.
View read_rows(DeviceMemory& memory, const Implementation& implementation, const Shape& shape,
               std::span<const std::int64_t> rows, void* output, HostBuffer& copy);

// Compares rows of an output, as read_rows gives them, with `expected`.
Verification compare(const Implementation& implementation, const Shape& shape, View output,
                     std::span<const std::int64_t> rows, std::span<const Expected> expected);

}  // namespace ridgebench
