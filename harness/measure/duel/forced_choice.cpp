#include "harness/measure/duel/forced_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/common/error.hpp"

namespace ridgebench {

std::shared_ptr<const Implementation> with_plan(const Implementation& implementation,
                                                std::string_view plan) {
  const std::string& technique = implementation.technique.name;
  if (!implementation.named_plans) {
    throw UsageError(fmt::format("{0} has no choice to name: '{0}{1}{2}'; allowed: {0}", technique,
                                 kForces, plan));
  }
  const std::vector<NamedPlan> plans = implementation.named_plans();
  const auto found = std::ranges::find(plans, plan, &NamedPlan::name);
  if (found == plans.end()) {
    std::vector<std::string_view> names;
    for (const NamedPlan& one : plans) names.push_back(one.name);
    reject_name("choice of " + technique, plan, names);
  }
  const auto forced = std::make_shared<Implementation>(implementation);
  forced->technique.name = fmt::format("{}{}{}", technique, kForces, plan);
  forced->prepare = [chosen = found->plan](Queue& /*queue*/, const Shape& /*shape*/) {
    return chosen;
  };
  return forced;
}

}  // namespace ridgebench
