// The answer of `ridgebench plan` as a table of the inputs, the terms and the result.
#pragma once

#include <string>

#include "roofline/plan/plan.hpp"

namespace ridgebench {

std::string plan_text(const PlanAnswer& answer);

}  // namespace ridgebench
