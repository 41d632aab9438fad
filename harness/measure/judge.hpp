// What the time of a verified row means.
#pragma once

#include "harness/results/record.hpp"
#include "harness/measure/case.hpp"
#include "roofline/measured_roofs.hpp"

namespace ridgebench {

// Adds the denominators, the bound and the flags that follow from them. A row that beats physics
// becomes invalid and loses its time.
void judge(Record& record, const Case& row, const MeasuredRoofs& roofs);

}  // namespace ridgebench
