// What the time of a verified row means.
#pragma once

#include "harness/record.hpp"
#include "harness/row.hpp"
#include "roofline/measured_roofs.hpp"

namespace ridgepoint {

// Adds the denominators, the bound and the flags that follow from them. A row that beats physics
// becomes invalid and loses its time.
void judge(Record& record, const Row& row, const MeasuredRoofs& roofs);

}  // namespace ridgepoint
