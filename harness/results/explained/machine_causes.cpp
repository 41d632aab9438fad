#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/results/explained/causes.hpp"
#include "roofline/json_pointer.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

// A clock that is lower than expected by less than this share is not a cause: boards differ, and
// NVML reads 150 MHz more than the multiprocessors hold under tensor instructions.
constexpr double kClockMargin = 0.1;
// Smallest share of the samples' time, or of the host's, that counts.
constexpr double kSmallShare = 0.02;

std::string gigahertz(double hertz) { return fmt::format("{:.2f} GHz", hertz / 1e9); }

// The clock that the row's rate depends on: as measured on the multiprocessors, or as NVML read it.
std::optional<double> held_clock(const Record& r) {
  return r.clock_hz ? r.clock_hz : r.telemetry_median("sm_clock_hz");
}

// The clock for which the sheet promises the row's engine and format, but not more than the device
// can hold.
std::optional<double> expected_clock(const RowFacts& facts) {
  const auto most = number_at(facts.device->json, "/clocks/max_sm_hz");
  if (facts.device->sheet == nullptr) return most;
  const Peak* const peak = facts.device->sheet->best_peak(facts.record->format.a);
  if (peak == nullptr || !peak->clock_hz) return most;
  return most ? std::min(*most, *peak->clock_hz) : peak->clock_hz;
}

// By how much a lower clock slows arithmetic and launches. Memory and links have clocks of their
// own.
std::optional<double> factor_of_clock(const RowFacts& facts) {
  const auto held = held_clock(*facts.record);
  const auto expected = expected_clock(facts);
  if (!held || !expected || !facts.limit || facts.limit == Limit::memory) return std::nullopt;
  return std::max(1.0, *expected / *held);
}

std::string clocks_text(const RowFacts& facts) {
  const auto held = held_clock(*facts.record);
  const auto expected = expected_clock(facts);
  if (!held) return "the clock is unknown";
  if (!expected) return fmt::format("{} held", gigahertz(*held));
  return fmt::format("{} held, {} expected", gigahertz(*held), gigahertz(*expected));
}

std::optional<double> share_of_window(const Record& r, const char* key) {
  const auto part = r.window_value(key);
  const auto whole = r.window_value("elapsed_s");
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return std::min(1.0, *part / *whole);
}

bool capped(const Record& r) {
  if (r.power_state) return *r.power_state != PowerState::full_clock;
  return share_of_window(r, "power_capped_s").value_or(0) > kCappedShare;
}

bool hot(const Record& r) { return share_of_window(r, "heat_capped_s").value_or(0) > kCappedShare; }

void add_power(const RowFacts& facts, std::vector<Cause>& to) {
  const Record& r = *facts.record;
  if (!capped(r)) return;
  const auto share = share_of_window(r, "power_capped_s");
  const std::string time = share ? fmt::format("for {:.0f} % of the samples", 100 * *share)
                                 : fmt::format("({})", name(*r.power_state));
  const auto limit_w = number_at(facts.device->json, "/power_limit_w");
  to.push_back({.code = "power_cap",
                .factor = factor_of_clock(facts),
                .evidence = fmt::format("the power limit{} lowered the clock {}: {}",
                                        limit_w ? fmt::format(" of {:.0f} W", *limit_w) : "", time,
                                        clocks_text(facts)),
                .remedy = "compare joules per launch: at the limit, a kernel that draws less is "
                          "faster; nvidia-smi -q -d POWER prints the limit"});
}

void add_heat(const RowFacts& facts, std::vector<Cause>& to) {
  if (!hot(*facts.record)) return;
  const auto degrees = facts.record->telemetry_median("temperature_c");
  to.push_back({.code = "heat",
                .factor = factor_of_clock(facts),
                .evidence = fmt::format(
                    "the temperature{} lowered the clock for {:.0f} % of the samples: {}",
                    degrees ? fmt::format(" of {:.0f} C", *degrees) : "",
                    100 * *share_of_window(*facts.record, "heat_capped_s"), clocks_text(facts)),
                .remedy = "check the cooling: nvidia-smi -q -d TEMPERATURE"});
}

// A clock that neither power nor heat lowered.
void add_clock(const RowFacts& facts, std::vector<Cause>& to) {
  const Record& r = *facts.record;
  const auto held = held_clock(r);
  const auto expected = expected_clock(facts);
  const bool low = held && expected && *held < (1 - kClockMargin) * *expected;
  if (!low || capped(r) || hot(r)) return;
  const auto application = number_at(facts.device->json, "/clocks/application_sm_hz");
  const auto most = number_at(facts.device->json, "/clocks/max_sm_hz");
  const bool set = application && most && *application < *most;
  to.push_back(
      {.code = "low_clock",
       .factor = factor_of_clock(facts),
       .evidence = fmt::format("{}, although neither power nor heat lowered the clock{}",
                               clocks_text(facts),
                               set ? fmt::format("; the application clock is {} of {}",
                                                 gigahertz(*application), gigahertz(*most))
                                   : ""),
       .remedy = "nvidia-smi -q -d CLOCK prints the limits of the clock; nvidia-smi -rgc and -rac "
                 "take them back"});
}

void add_memory_clock(const RowFacts& facts, std::vector<Cause>& to) {
  const auto held = facts.record->telemetry_median("memory_clock_hz");
  const auto most = number_at(facts.device->json, "/clocks/max_memory_hz");
  if (!held || !most || *held >= (1 - kClockMargin) * *most) return;
  const bool limits = facts.limit == Limit::memory;
  to.push_back({.code = "low_memory_clock",
                .factor = limits ? std::optional(*most / *held) : std::nullopt,
                .evidence = fmt::format("the memory ran at {}, the device allows {}",
                                        gigahertz(*held), gigahertz(*most)),
                .remedy = "nvidia-smi -q -d CLOCK; nvidia-smi -rmc takes a limit back"});
}

// Bytes/s of a PCI Express link in one direction. Each generation doubles the rate of a lane; the
// encoding of the first two takes more of it, so that this is an upper bound for them.
double pcie_bytes_per_s(double generation, double lanes) {
  static const double third = link_of("pcie3x16").bytes_per_s;
  return third * std::exp2(generation - 3) * lanes / 16;
}

bool copies_over_pcie(const Record& r) {
  return r.saturates == Resource::link && r.op != "copy_to_peer";
}

// An idle link may have a lower generation than it has under load. The generation that was read
// counts only if it allows the rate of the row.
void add_link(const RowFacts& facts, std::vector<Cause>& to) {
  const Record& r = *facts.record;
  if (!copies_over_pcie(r) || !r.bytes_per_s()) return;
  const auto generation = number_at(facts.device->json, "/pcie/generation");
  const auto most = number_at(facts.device->json, "/pcie/max_generation");
  const auto lanes = number_at(facts.device->json, "/pcie/lanes");
  const auto most_lanes = number_at(facts.device->json, "/pcie/max_lanes");
  if (!generation || !most || !lanes || !most_lanes || *lanes <= 0) return;
  const double one_way_per_s = *r.bytes_per_s() / (r.op == "copy_both_ways" ? 2 : 1);
  const bool slow = one_way_per_s <= pcie_bytes_per_s(*generation, *lanes);
  const double held = slow ? *generation : *most;
  if (held >= *most && *lanes >= *most_lanes) return;
  to.push_back({.code = "narrow_link",
                .factor = std::exp2(*most - held) * *most_lanes / *lanes,
                .evidence = fmt::format(
                    "the link to the host had generation {:.0f} and {:.0f} lanes; the device and "
                    "its slot allow generation {:.0f} and {:.0f} lanes",
                    held, *lanes, *most, *most_lanes),
                .remedy = "nvidia-smi -q -d PCIE under load; fewer lanes point to the slot or the "
                          "riser"});
}

void add_neighbours(const RowFacts& facts, std::vector<Cause>& to) {
  const Record& r = *facts.record;
  const auto others = number_at(r.telemetry, "/other_processes");
  if (others && *others > 0) {
    to.push_back(
        {.code = "busy",
         .evidence = fmt::format("{} used the GPU while the row ran",
                                 counted(static_cast<std::size_t>(*others), "other process")),
         .remedy = "nvidia-smi lists the processes; measure again without them"});
  }
  if (r.flagged("cpu_throttled")) {
    to.push_back({.code = "cpu_throttled",
                  .evidence = "the CPU quota of a control group stopped the process",
                  .remedy = "measure with a larger quota, or with fewer threads"});
  }
  const bool host = r.device == "cpu";  // a simulated device also has the back end of a host
  for (const RunCondition& condition : *facts.conditions) {
    const bool own = condition.device.empty() ? host : condition.device == r.device;
    if (!own || condition.code == "fill") continue;  // the fill is not of the machine
    to.push_back({.code = condition.code,
                  .evidence = condition.text,
                  .remedy = "ridgebench doctor prints the remedy"});
  }
  if (host && facts.device->stolen_share.value_or(0) > kSmallShare) {
    to.push_back({.code = "stolen",
                  .factor = 1 / (1 - std::min(0.99, *facts.device->stolen_share)),
                  .evidence = fmt::format("the hypervisor took {:.0f} % of the processors' time",
                                          100 * *facts.device->stolen_share),
                  .remedy = "measure on a machine that other guests do not share"});
  }
}

}  // namespace

std::vector<Cause> machine_causes(const RowFacts& facts) {
  std::vector<Cause> causes;
  add_power(facts, causes);
  add_heat(facts, causes);
  add_clock(facts, causes);
  add_memory_clock(facts, causes);
  add_link(facts, causes);
  add_neighbours(facts, causes);
  return causes;
}

}  // namespace ridgebench
