// The answer of `ridgebench plan` as a table.
#pragma once

#include <string>

#include "roofline/plan/plan.hpp"

namespace ridgebench {

// The inputs, the terms and the result.
std::string plan_text(const PlanAnswer& answer);

}  // namespace ridgebench
