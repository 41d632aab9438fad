#include "harness/measure/preparation.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "harness/measure/buffers.hpp"
#include "harness/measure/sampling/sustained.hpp"
#include "harness/measure/verifying/check_needs.hpp"
#include "harness/measure/verifying/references_ahead.hpp"

namespace ridgebench {
namespace {

// Seconds for inputs, poison and comparisons of the outputs. A host with two threads took them, and
// the published runs of an H100 and an H200 did. The budget learns by how much another machine
// differs.
double filling_s(const Case& c, const Problem& problem) {
  constexpr double kFixed_s = 0.02;
  const double bytes_per_s = c.device->backend() == Backend::cuda ? 1e10 : 8e8;
  const double set = Buffers::footprint(problem.operands, 1);
  double in_memory = 0;
  double used = 0;
  for (const Operand& operand : problem.operands) {
    in_memory += operand.bytes();
    used += operand.used_bytes();
  }
  // Gaps are filled too, and a rotation does not count them.
  const double rotation = static_cast<double>(c.device->rotation_bytes()) * in_memory / used;
  const double bytes = c.regime == Regime::steady
                           ? std::clamp(rotation, set, set * static_cast<double>(kMaxSets))
                           : set;
  return kFixed_s + bytes / bytes_per_s;
}

}  // namespace

std::vector<std::optional<double>> preparation_of(std::span<const Case> cases, double share_s) {
  std::vector<std::optional<double>> seconds;
  std::set<std::string> computed;
  for (const Case& c : cases) {
    const Problem problem = c.problem();
    if (unsupported_reason(c) || lacks_memory(c, problem)) {
      seconds.emplace_back();
      continue;
    }
    const CheckNeeds check = check_needs(c, problem);
    const bool first = computed.insert(c.device->name() + reference_key(problem, 0, 1)).second;
    const double check_s = check.further_s + (first ? check.first_s : 0);
    // filling_s() has the comparisons of what costs no more to check than to fill.
    seconds.emplace_back(std::max(filling_s(c, problem), check_s) + beyond_share_s(c, share_s));
  }
  return seconds;
}

}  // namespace ridgebench
