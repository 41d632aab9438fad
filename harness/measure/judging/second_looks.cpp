#include "harness/measure/judging/second_looks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "harness/measure/failure.hpp"
#include "harness/results/measured_roofs.hpp"
#include "harness/results/suspect.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

// Odd, so that one of them has the median time. The row is measured last in each.
constexpr std::size_t kTurns = 3;

bool possible(const Record& r) { return !impossible(r, r.time->median); }

// Says why a row is suspect, by the ceiling of the memory if the row exceeds that one.
std::string reason_of(const Record& r) {
  const OverRoof over = over_best_ceilings(r, r.time->median);
  const bool memory = over.memory > 1 + kSuspectMargin;
  const double rate = (memory ? r.bytes_per_s() : r.flops_per_s()).value_or(0);
  const std::string_view unit = memory ? "B/s" : "FLOP/s";
  return fmt::format(
      "faster than possible: {}, but {} reaches {} at best, also in {} turns",
      with_unit(rate, unit),
      (memory ? r.roof->memory_ceiling : r.roof->compute_ceiling).value_or("its ceiling"),
      with_unit(rate / (memory ? over.memory : over.compute), unit), kTurns);
}

std::optional<Case> registered(const std::string& id, Device& device) {
  for (const Case& c : enumerate_cases(Registry::instance(), device, Profile::full, {})) {
    if (c.is_ceiling() && c.id() == id) return c;
  }
  return std::nullopt;
}

}  // namespace

double SecondLooks::raised(const std::optional<std::string>& ceiling) const {
  const auto found = raised_.find(ceiling.value_or(""));
  return found == raised_.end() ? 1 : found->second;
}

void SecondLooks::add(const Record& r) {
  if (const auto rate = ceiling_rate(r)) rates_[r.id] = rate->per_s;
  if (!r.roof || !r.second_look) return;
  const auto learn = [&](const std::optional<std::string>& ceiling, std::optional<double> known,
                         std::optional<double> best) {
    if (!ceiling || !known || !best) return;
    raised_[*ceiling] = std::max(raised(ceiling), *best / *known);
  };
  learn(r.roof->memory_ceiling, r.roof->bytes_per_s, r.second_look->bytes_per_s);
  learn(r.roof->compute_ceiling, r.roof->flops_per_s, r.second_look->flops_per_s);
}

SecondLook SecondLooks::exceeded(const Record& r) const {
  const OverRoof over = over_ceilings(r, r.time->median);
  SecondLook look;
  if (over.memory > 1 + kSuspectMargin) {
    look.bytes_per_s = *r.roof->bytes_per_s * raised(r.roof->memory_ceiling);
  }
  if (over.compute > 1 + kSuspectMargin) {
    look.flops_per_s = *r.roof->flops_per_s * raised(r.roof->compute_ceiling);
  }
  return look;
}

// The case is measured like a control, which is not a denominator of later rows. Its fastest sample
// counts: what the ceiling did once is possible, also if other processes slowed the other samples.
void SecondLooks::measure_ceiling(const std::string& id, const Case& c, double seconds,
                                  const Measure& measure) {
  if (!cases_.contains(id)) {
    if (const auto known = registered(id, *c.device)) add(*known);
  }
  const auto found = cases_.find(id);
  const auto rate = rates_.find(id);
  if (found == cases_.end() || rate == rates_.end()) return;
  Case ceiling = found->second;
  ceiling.control = true;
  Record again = measure(ceiling, seconds);
  again.role = Role::ceiling;
  if (const auto now = ceiling_rate(again)) {
    const double best = now->per_s * again.time->median / std::ranges::min(again.samples_s);
    raised_[id] = std::max(raised(id), best / rate->second);
  }
}

void SecondLooks::measure_ceilings(const Record& r, const Case& c, double seconds,
                                   const Measure& measure) {
  const SecondLook ceilings = exceeded(r);
  if (ceilings.bytes_per_s && r.roof->memory_ceiling) {
    measure_ceiling(*r.roof->memory_ceiling, c, seconds, measure);
  }
  if (ceilings.flops_per_s && r.roof->compute_ceiling) {
    measure_ceiling(*r.roof->compute_ceiling, c, seconds, measure);
  }
}

Record SecondLooks::confirm(Record record, const Case& c, double seconds, const Measure& measure) {
  if (!too_fast(record)) return record;
  record.second_look = exceeded(record);
  if (possible(record)) return record;
  const double of_turn_s = seconds / kTurns;
  std::vector<Record> turns;
  std::vector<double> times_s;
  while (turns.size() < kTurns) {
    measure_ceilings(record, c, of_turn_s, measure);
    turns.push_back(measure(c, of_turn_s));
    if (turns.back().status != Status::ok) return turns.back();
    times_s.push_back(turns.back().time->median);
  }
  record.second_look = exceeded(record);
  record.second_look->times_s = times_s;
  if (possible(record)) return record;
  std::ranges::sort(turns, {}, [](const Record& turn) { return turn.time->median; });
  Record& middle = turns[kTurns / 2];
  middle.second_look = record.second_look;
  if (possible(middle)) return middle;
  suspect(record, reason_of(record));
  return record;
}

}  // namespace ridgebench
