// Compares outputs with the operation's reference. The tolerance follows from the operation and the
// technique.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/device/device_memory.hpp"
#include "harness/results/record.hpp"
#include "kernels/common/operation.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

// Returns the output rows to compare: all if their cost is affordable, else the first, the last and
// a seeded sample. `share` scales the affordable cost.
std::vector<std::int64_t> rows_to_check(const Operation& operation, const Shape& shape,
                                        std::uint64_t seed, double share = 1);

// Keeps the reference values of rows, which all techniques of an operation share.
class ReferenceCache {
 public:
  // `key` names the inputs: operation, shape, format and buffer set. get() calls `inputs` only if
  // the cache does not hold their reference.
  const std::vector<Expected>& get(const std::string& key, const Operation& operation,
                                   const Shape& shape,
                                   const std::function<std::vector<View>()>& inputs,
                                   std::span<const std::int64_t> rows);

 private:
  std::map<std::string, std::vector<Expected>> values_;
};

// Returns a bound on |output - value|: c u_acc sqrt(terms) ||terms||_2 + u_out |value| + the
// technique's stated errors; u is half the format's epsilon. The first part is the growth of
// independent rounding errors in a sum (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
// ed., section 4.2). With c = 8, rounding errors of a right output do not exceed it by chance.
double tolerance(const Implementation& implementation, const Shape& shape, Format output,
                 Expected expected);

// Returns rows of an output in device memory, packed one after the other. The host reads them in
// `copy` or in place.
View read_rows(DeviceMemory& memory, const Implementation& implementation, const Shape& shape,
               std::span<const std::int64_t> rows, void* output, HostBuffer& copy);

// Compares rows of an output, which read_rows returned, with `expected`.
Verification compare(const Implementation& implementation, const Shape& shape, View output,
                     std::span<const std::int64_t> rows, std::span<const Expected> expected);

}  // namespace ridgebench
