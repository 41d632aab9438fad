// Conditions of a host that affect all rows of a run: other programs, its governor, its clock.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "harness/cli/doctor/conditions.hpp"

namespace ridgebench::doctor {
namespace {

// A sample spans a thousand ticks or more: with a coarser clock than this, more than a millisecond.
constexpr double kCoarsestTick_s = 1e-6;

void judge_fill(Fill fill, Judge& judge) {
  if (fill == Fill::zeros) {
    judge.warn("fill", "all inputs are zero: a device draws less power, and may run faster",
               "run --fill normal");
  } else if (fill == Fill::integers) {
    judge.warn("fill", "inputs are small integers: a device draws less power, and may run faster",
               "run --fill normal");
  }
}

// The facts of a host that a run measures; null for a device of another kind.
Facts measured_host(const MachineFacts::Device& device, const MachineFacts& machine) {
  if (device.name != "cpu") return nullptr;
  Facts host = device.identity;
  host.update(machine.host_state);
  host["governors"] = read_governors("/");
  return host;
}

}  // namespace

void judge_conditions(const Facts& host, double most_load, Judge& judge) {
  for (const Facts& governor : value_at(host, "/governors")) {
    if (governor == "performance" || governor == "schedutil") continue;
    judge.note("governor",
               fmt::format("the governor of a processor is {}: the clock rises late",
                           governor.get<std::string>()),
               "with the owner's consent: sudo cpupower frequency-set -g performance");
  }
  const double load = number_at(host, "/load_average").value_or(0);
  if (load > most_load) {
    judge.warn("busy",
               fmt::format("other programs run: the load average is {:.1f} on {:.0f} threads", load,
                           number_at(host, "/threads").value_or(0)),
               "top; measure when they have ended");
  }
  const double tick_s = number_at(host, "/event_tick_s").value_or(0);
  if (tick_s > kCoarsestTick_s) {
    judge.warn(
        "coarse_clock",
        fmt::format("a step of the clock is {:.3g} us: short rows are not exact", tick_s * 1e6),
        "cat /sys/devices/system/clocksource/clocksource0/available_clocksource");
  }
}

Findings conditions_of(Fill fill, const MachineFacts& machine) {
  Findings findings;
  Judge judge(findings, "host");
  for (const MachineFacts::Device& device : machine.devices) {
    const Facts host = measured_host(device, machine);
    // A run before this one leaves a load of the number of threads.
    if (!host.is_null()) judge_conditions(host, number_at(host, "/threads").value_or(1), judge);
  }
  judge_fill(fill, judge);
  return findings;
}

void add_conditions(nlohmann::ordered_json& environment, const Findings& findings) {
  nlohmann::ordered_json& conditions = environment[kConditions];
  if (!conditions.is_array()) conditions = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    const auto same = [&](const auto& one) { return one.value("code", "") == finding.code; };
    if (std::ranges::any_of(conditions, same)) continue;
    conditions.push_back({{"code", finding.code}, {"text", finding.text}});
  }
}

std::string text_of_conditions(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) text += (text.empty() ? "" : "; ") + finding.text;
  return text;
}

}  // namespace ridgebench::doctor
