#include "harness/results/suspect.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/results/measured_roofs.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

double ratio(double amount, double time_s, std::optional<double> ceiling) {
  return ceiling ? amount / time_s / *ceiling : 0;
}

OverRoof over(const Record& r, double time_s, std::optional<double> bytes_per_s,
              std::optional<double> flops_per_s) {
  if (r.role != Role::kernel || r.regime != Regime::steady) return {};
  OverRoof found;
  if (!r.flagged(kServedByCache)) found.memory = ratio(r.bytes, time_s, bytes_per_s);
  if (r.engine != Engine::memory) found.compute = ratio(r.flops, time_s, flops_per_s);
  return found;
}

bool exceeds(const Record& r, OverRoof over, double margin) {
  if (r.op == "gelu") over.compute = 0;
  return over.exceeds(margin);
}

}  // namespace

bool OverRoof::exceeds(double margin) const { return std::max(memory, compute) > 1 + margin; }

OverRoof over_ceilings(const Record& r, double time_s) {
  if (!r.roof) return {};
  return over(r, time_s, r.roof->bytes_per_s, r.roof->flops_per_s);
}

OverRoof over_best_ceilings(const Record& r, double time_s) {
  if (!r.roof) return {};
  const SecondLook look = r.second_look.value_or(SecondLook{});
  return over(r, time_s, std::max(r.roof->bytes_per_s, look.bytes_per_s),
              std::max(r.roof->flops_per_s, look.flops_per_s));
}

bool too_fast(const Record& r) {
  return r.status == Status::ok && exceeds(r, over_ceilings(r, r.time->median), kSuspectMargin);
}

double suspect_margin(const Record& record) {
  return record.device == "cpu" ? kSuspectMarginOfHost : kSuspectMargin;
}

bool impossible(const Record& r, double time_s) {
  return exceeds(r, over_best_ceilings(r, time_s), suspect_margin(r));
}

double slower_factor(double bytes, std::int64_t sets) {
  return bytes * static_cast<double>(sets) < kLearnedBytes ? kSlowerIfLearned : kSlowerOnNewInputs;
}

bool all_slower(const Probed& probed, double median_s, double factor) {
  const auto slower = [&](double seconds) { return seconds > factor * median_s; };
  return !probed.new_inputs_s.empty() && std::ranges::all_of(probed.new_inputs_s, slower);
}

bool may_be_slower(const Probed& probed, double median_s, double factor) {
  if (!all_slower(probed, median_s, factor)) return false;
  if (probed.old_inputs_s.size() < 2) return true;
  std::vector<double> old_s = probed.old_inputs_s;
  std::ranges::sort(old_s);
  return std::ranges::min(probed.new_inputs_s) > factor * old_s[old_s.size() - 2];
}

std::optional<double> slower_on_new_inputs(const Probed& probed, double median_s, double factor) {
  const bool enough = probed.new_inputs_s.size() >= kFewestFreshProbes + kMoreFreshProbes &&
                      probed.old_inputs_s.size() >= kLaunchesOnOldInputs;
  if (!enough || !may_be_slower(probed, median_s, factor)) return std::nullopt;
  std::vector<double> new_s = probed.new_inputs_s;
  return middle(new_s) / median_s;
}

std::optional<std::string> doubted_claim(double claimed_s, std::optional<double> seen_s) {
  if (!seen_s || claimed_s >= kSmallestClaim * *seen_s) return std::nullopt;
  return fmt::format("the kernel's process claims {} for what took {}", with_unit(claimed_s, "s"),
                     with_unit(*seen_s, "s"));
}

bool claim_is_unchecked(double claimed_s, std::optional<double> seen_s) {
  return seen_s && *seen_s < claimed_s / 2;
}

void withhold_time(Record& r) {
  r.time.reset();
  for (auto* const value : {&r.time_mean_s, &r.cycles_median, &r.cycles_ci_low, &r.cycles_ci_high,
                            &r.mfu, &r.fraction_of_roof_at_clock, &r.fraction_of_measured_roof}) {
    value->reset();
  }
  r.bound.reset();
}

void suspect(Record& r, std::string reason) {
  r.status = Status::suspect;
  r.reason = std::move(reason);
  for (const char* const flag : {kAboveRoof, kUnbounded}) std::erase(r.flags, flag);
  withhold_time(r);
}

}  // namespace ridgebench
