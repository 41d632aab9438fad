// The memory of one device as a stacked bar, a letter for each part.
#pragma once

#include <string>

#include "roofline/plan/plan.hpp"

namespace ridgebench {

// Returns lines for the `parts` and the `memory_bytes` of plan_fits: the bar, in which a mark
// stands where the memory of the device ends, the letters of the parts below it, and what the mark
// means. Each part that is not empty has a column at least. `utf8` selects block characters; else
// the letters fill the bar.
std::string memory_bar(const PlanAnswer& answer, bool utf8);

}  // namespace ridgebench
