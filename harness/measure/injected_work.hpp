// Work added on purpose, so that it can be proved that a comparison finds it: with
// RIDGEBENCH_INJECT_WORK=1/50 one of every 50 launches that a kernel's batch counts runs another
// launch of the rotation as well; ceilings are left alone. It is real work, on any device, and
// costs 2 % exactly where a launch costs the same each time. 0/50 adds none but times batches of 50
// alike: what to compare with. The variable stands in environment.json, and a row that it slowed is
// flagged `injected_work`.
#pragma once

#include <vector>

#include "kernels/common/queue.hpp"

namespace ridgebench {

inline constexpr const char* kInjectedWorkVariable = "RIDGEBENCH_INJECT_WORK";
inline constexpr const char* kInjectedWorkFlag = "injected_work";

struct InjectedWork {
  int extra = 0;    // launches added
  int counted = 1;  // to so many that are counted
};

// Nothing is added where the variable is not set. Throws UsageError for a value that is no share.
InjectedWork injected_work();

// The rotation repeated until whole groups of `work.counted` launches fill it, `work.extra` of each
// group with a second launch, of the set half a rotation away, which no cache holds either.
std::vector<Launch> inject(const std::vector<Launch>& rotation, const InjectedWork& work);

}  // namespace ridgebench
