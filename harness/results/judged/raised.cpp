#include "harness/results/judged/raised.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "harness/results/measured_roofs.hpp"

namespace ridgebench {
namespace {

// `by` is the id of a faster row, or of the ceiling itself, which was faster in a second look.
struct Raising {
  double factor = 1;
  std::string by;
};
using Raisings = std::map<std::string, Raising>;  // by the id of a ceiling

// A ceiling that a verified steady row exceeds, and the row's rate as a multiple of the ceiling's.
struct Excess {
  const std::string& ceiling;
  double factor;
  bool of_arithmetic;
};

// The rate as a multiple of the roof; empty within the margin, and without one of them.
std::optional<double> factor_above(std::optional<double> rate, std::optional<double> roof) {
  if (!rate || !roof || *rate <= (1 + kRoofMargin) * *roof) return std::nullopt;
  return *rate / *roof;
}

std::vector<Excess> excesses(const Record& r) {
  std::vector<Excess> found;
  const bool counts = r.role == Role::kernel && r.status == Status::ok &&
                      r.regime == Regime::steady && r.roof && !r.flagged(kServedByCache);
  if (!counts) return found;
  const auto add = [&](std::optional<double> rate, std::optional<double> roof,
                       const std::optional<std::string>& ceiling, bool of_arithmetic) {
    const std::optional<double> factor = factor_above(rate, roof);
    if (factor && ceiling) found.push_back({*ceiling, *factor, of_arithmetic});
  };
  if (r.engine != Engine::memory) {
    add(r.flops_per_s(), r.roof->flops_per_s, r.roof->compute_ceiling, true);
  }
  add(r.bytes_per_s(), r.roof->bytes_per_s, r.roof->memory_ceiling, false);
  return found;
}

// The FLOPs of GeLU are a convention, so that only products raise the roof of an engine. A ceiling
// that was faster in a second look at it raises its own roof, whichever row was the reason.
Raisings raisings_of(std::span<const Record> rows) {
  Raisings best;
  const auto raise = [&](const std::string& ceiling, double factor, const std::string& by) {
    Raising& known = best[ceiling];
    if (factor > known.factor) known = {factor, by};
  };
  for (const Record& r : rows) {
    for (const Excess& excess : excesses(r)) {
      if (excess.of_arithmetic && !is_product(r)) continue;
      raise(excess.ceiling, excess.factor, r.id);
    }
    const auto look_again = [&](std::optional<double> rate, std::optional<double> roof,
                                const std::optional<std::string>& ceiling) {
      const std::optional<double> factor = factor_above(rate, roof);
      if (factor && ceiling) raise(*ceiling, *factor, *ceiling);
    };
    if (!r.second_look || !r.roof) continue;
    look_again(r.second_look->flops_per_s, r.roof->flops_per_s, r.roof->compute_ceiling);
    look_again(r.second_look->bytes_per_s, r.roof->bytes_per_s, r.roof->memory_ceiling);
  }
  return best;
}

void judge_by(Record& r, const Raisings& raisings) {
  if (!r.roof || !r.time) return;
  if (!excesses(r).empty() && !r.flagged(kAboveRoof)) r.flags.emplace_back(kAboveRoof);
  bool moved = false;
  const auto move = [&](std::optional<double>& rate, const std::optional<std::string>& ceiling) {
    const auto found = ceiling ? raisings.find(*ceiling) : raisings.end();
    if (found == raisings.end() || !rate) return;
    *rate *= found->second.factor;
    moved = true;
  };
  const bool completed = !r.fraction_of_measured_roof && r.roof->flops_per_s;
  move(r.roof->flops_per_s, r.roof->compute_ceiling);
  move(r.roof->bytes_per_s, r.roof->memory_ceiling);
  if (!moved && !completed) return;
  r.fraction_of_measured_roof.reset();
  const auto least_s = r.roof->bytes_per_s ? least_time_s(r) : std::nullopt;
  if (least_s) r.fraction_of_measured_roof = *least_s / r.time->median;
}

// The tensor ceiling that gives three products of tf32 their roof; null without one.
const Record* tf32_ceiling(std::span<const Record> rows) {
  const Record* best = nullptr;
  for (const Record& r : rows) {
    const bool fits = is_roof(r) && r.saturates == Resource::tensor &&
                      r.format == FormatPair(products_of(Format::tf32x3).factors);
    if (fits && (best == nullptr || r.flops_per_s() > best->flops_per_s())) best = &r;
  }
  return best;
}

void complete_tf32x3(Record& r, const Record* tf32) {
  const bool lacks = r.roof && !r.roof->flops_per_s && r.engine == Engine::tensor &&
                     r.arithmetic == FormatPair(Format::tf32x3);
  if (!lacks || tf32 == nullptr || !tf32->flops_per_s()) return;
  r.roof->flops_per_s = *tf32->flops_per_s() / products_of(Format::tf32x3).count;
  r.roof->compute_ceiling = tf32->id;
  if (!r.bound && r.roof->bytes_per_s) {
    r.bound = bound({r.flops, r.bytes}, {*r.roof->flops_per_s, *r.roof->bytes_per_s});
  }
}

}  // namespace

bool is_roof(const Record& r) {
  return r.role == Role::ceiling && r.status == Status::ok && !r.burst &&
         !r.flagged(kPartialRate) && !r.flagged(kServedByCache);
}

void complete_older(std::span<Record> rows) {
  const bool short_ceilings = std::ranges::any_of(rows, [](const Record& r) {
    return r.saturates == Resource::memory && r.flagged(kShortRotation);
  });
  for (Record& r : rows) {
    const bool lacks = r.flagged(kShortRotation) && !r.flagged(kServedByCache);
    if (lacks && !short_ceilings) r.flags.emplace_back(kServedByCache);
  }
  const Record* const tf32 = tf32_ceiling(rows);
  for (Record& r : rows) complete_tf32x3(r, tf32);
}

std::vector<RaisedRow> raised_rows(std::vector<Record> rows) {
  complete_older(rows);
  const Raisings raisings = raisings_of(rows);
  std::vector<RaisedRow> judged;
  judged.reserve(rows.size());
  for (const Record& r : rows) {
    RaisedRow& row = judged.emplace_back(RaisedRow{.record = r});
    const auto found = raisings.find(r.id);
    if (r.role != Role::ceiling || found == raisings.end()) {
      judge_by(row.record, raisings);
    } else {
      row.raised = found->second.factor;
      row.raised_by = found->second.by;
    }
  }
  return judged;
}

std::optional<double> least_time_s(const Record& r) {
  const bool arithmetic = r.flops != 0 && r.engine != Engine::memory;
  if (arithmetic && !(r.roof && r.roof->flops_per_s)) return std::nullopt;
  if (!r.roof) return std::nullopt;
  double least_s = 0;
  if (arithmetic) least_s = r.flops / *r.roof->flops_per_s;
  if (r.roof->bytes_per_s) least_s = std::max(least_s, r.bytes / *r.roof->bytes_per_s);
  least_s = std::max(least_s, r.roof->special_s().value_or(0));
  return least_s > 0 ? std::optional(least_s) : std::nullopt;
}

}  // namespace ridgebench
