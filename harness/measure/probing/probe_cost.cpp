#include "harness/measure/probing/probe_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "harness/device/cpu/free_memory.hpp"
#include "harness/measure/verifying/reference.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Probes of a kernel of the user and of one of the suite, half of each kind.
constexpr std::size_t kProbesOfOwn = 8;
constexpr std::size_t kProbesOfOurs = 2;
// Limit of the cost of all comparisons, in the unit of kSampleCost.
constexpr double kMostProbesCost = 0x1p32;
// Limit of the bytes that the host keeps for a probe.
constexpr double kMostNewBytes = 0x1p30;

// The cost of one probe: it takes a reference and often a second one, of the old inputs.
double cost_of_probe(const Problem& problem) {
  double drawn = 0;
  for (const Operand& operand : problem.operands) {
    if (operand.is_input()) drawn += static_cast<double>(operand.elements);
  }
  return 2 * cost_of_rows(problem, count_to_check(problem, kProbeCost)) + drawn;
}

// True if the host's memory holds the new inputs, and twice the reference, outputs and marks of the
// compared rows.
bool fits_host(const Problem& problem) {
  double bytes = 0;
  for (const Operand& operand : problem.operands) bytes += operand.is_input() ? operand.bytes() : 0;
  const std::int64_t elements = count_to_check(problem, kProbeCost) * problem.row_elements;
  bytes += 2 * static_cast<double>(elements) * (sizeof(Expected) + sizeof(double));
  return bytes <= std::min(kMostNewBytes, allocatable_bytes() / 2);
}

}  // namespace

bool probes_wanted() {
  const char* const text = std::getenv(kProbesVariable);
  const std::string_view value = text == nullptr ? "" : text;
  if (value == "0" || value == "1" || value.empty()) return value != "0";
  throw UsageError(fmt::format("{}='{}'; allowed: 0, 1", kProbesVariable, value));
}

std::size_t probes_of(const Case& c) {
  if (c.implementation->of_user()) return kProbesOfOwn;
  if (c.control) return 0;
  return probes_wanted() ? kProbesOfOurs : 0;
}

std::size_t affordable_probes(const Problem& problem) {
  if (!fits_host(problem)) return 0;
  return static_cast<std::size_t>(std::max(1.0, kMostProbesCost / cost_of_probe(problem)));
}

double cost_of_probes(const Case& c, const Problem& problem) {
  return static_cast<double>(std::min(probes_of(c), affordable_probes(problem))) *
         cost_of_probe(problem);
}

}  // namespace ridgebench
