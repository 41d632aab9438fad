// The kernels of a soak: own kernels of the suite whose bits do not depend on the run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/measure/soak/unit.hpp"

namespace ridgebench {

// The cases that a soak may launch: hand-written, fast, not in place, and adding in one order.
// Unless the user names operations, techniques or shapes: products in each format, and the ceilings
// of tensor engines, of multiply-adds and of the link. A sweep's ceiling is there only for a
// format, or for numbers of multiprocessors, that no other one has.
std::vector<Case> soak_cases(const Registry& registry, Device& device, const CaseNames& names);

// A kernel that a soak had to leave out.
struct LeftOut {
  std::string id;
  std::string reason;
  bool wrong;  // its outputs differ from the reference
};

// Binds the cases, and keeps the fastest technique of an operation in a format: it draws the most
// power. `left_out` gets those that do not fit or fail.
std::vector<std::unique_ptr<SoakUnit>> bind_units(const std::vector<Case>& cases, Fill fill,
                                                  std::uint64_t seed, OutputCheck& check,
                                                  const std::function<void(LeftOut)>& left_out);

}  // namespace ridgebench
