#include "harness/results/explained/energy.hpp"

#include <fmt/format.h>

#include "harness/results/explained/explained.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

std::optional<double> above_zero(std::optional<double> value) {
  return value && *value > 0 ? value : std::nullopt;
}

// The work of a launch for a joule; empty without an energy or without work. A burst pauses between
// its launches, so that its energy is not that of its work.
std::optional<double> work_per_joule(const Record& r, Limit limit) {
  const auto joules = above_zero(r.window_value("energy_per_launch_j"));
  const double work = limit == Limit::memory ? r.bytes : r.flops;
  if (!joules || r.burst || r.status != Status::ok || work <= 0) return std::nullopt;
  return work / *joules;
}

bool is_yardstick(const Record& ceiling, const Record& row, Limit limit) {
  if (ceiling.role != Role::ceiling || ceiling.device != row.device) return false;
  if (ceiling.regime != Regime::steady) return false;
  if (limit == Limit::memory) return ceiling.saturates == Resource::memory;
  const bool computes = ceiling.saturates == Resource::fma || ceiling.saturates == Resource::tensor;
  return computes && ceiling.arithmetic == row.arithmetic;
}

}  // namespace

std::optional<double> RowEnergy::share() const {
  return best_per_joule ? std::optional(work_per_joule / *best_per_joule) : std::nullopt;
}

std::string RowEnergy::text() const {
  const char* const unit = limit == Limit::memory ? "B" : "FLOP";
  std::string text = fmt::format("{} a launch, {} a joule", with_unit(joules, "J"),
                                 with_unit(work_per_joule, unit));
  if (!best_per_joule) return text + "; no comparable ceiling of the run has an energy";
  return text + fmt::format(": {} of {} by {}", percent_text(*share()),
                            with_unit(*best_per_joule, unit), *ceiling);
}

std::optional<RowEnergy> energy_of(const Record& row, std::optional<Limit> limit,
                                   std::span<const Record> records) {
  if (limit != Limit::memory && limit != Limit::compute) return std::nullopt;
  const auto own = work_per_joule(row, *limit);
  if (!own) return std::nullopt;
  RowEnergy energy{
      .joules = *row.window_value("energy_per_launch_j"), .limit = *limit, .work_per_joule = *own};
  for (const Record& ceiling : records) {
    if (!is_yardstick(ceiling, row, *limit)) continue;
    const auto found = work_per_joule(ceiling, *limit);
    if (!found || (energy.best_per_joule && *found <= *energy.best_per_joule)) continue;
    energy.best_per_joule = found;
    energy.ceiling = ceiling.id;
  }
  return energy;
}

}  // namespace ridgebench
