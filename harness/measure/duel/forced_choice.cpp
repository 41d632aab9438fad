#include "harness/measure/duel/forced_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

Plan named_plan(const Implementation& implementation, std::string_view plan) {
  std::vector<NamedPlan> plans = implementation.named_plans();
  const auto found = std::ranges::find(plans, plan, &NamedPlan::name);
  if (found != plans.end()) return std::move(found->plan);
  std::vector<std::string_view> names;
  for (const NamedPlan& one : plans) names.push_back(one.name);
  reject_name("choice of " + implementation.technique.name, plan, names);
}

}  // namespace

std::shared_ptr<const Implementation> with_plan(const Implementation& implementation,
                                                std::string_view plan) {
  const std::string& technique = implementation.technique.name;
  if (!implementation.named_plans) {
    throw UsageError(fmt::format("{0} has no choice to name: '{0}{1}{2}'; allowed: {0}", technique,
                                 kForces, plan));
  }
  static_cast<void>(named_plan(implementation, plan));
  const auto forced = std::make_shared<Implementation>(implementation);
  forced->technique.name = fmt::format("{}{}{}", technique, kForces, plan);
  // A plan of a process of own kernels serves launches of that process only, and the technique may
  // run in this one by then.
  forced->prepare = [implementation, plan = std::string(plan)](Queue& /*queue*/,
                                                               const Shape& /*shape*/) {
    return named_plan(implementation, plan);
  };
  return forced;
}

}  // namespace ridgebench
