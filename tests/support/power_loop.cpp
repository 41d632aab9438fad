#include "tests/support/power_loop.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace ridgebench {
namespace {

constexpr double kStep_s = 5e-4;
constexpr double kPeriod_s = 0.04;
constexpr double kFade_s = 0.12;
constexpr double kRegain_s = 0.06;
constexpr double kRelease_s = 0.12;
constexpr double kExponent = 2.5;
constexpr double kMemoryLoad = 0.45;
constexpr double kLowestClock = 0.1;
constexpr double kFullClock = 0.998;  // a higher share counts as full
constexpr double kRenewal_s = 0.1;
constexpr double kLatest_s = 0.01;

double seconds_of(const LaunchTimes& launch, double clock) {
  return std::max(launch.arithmetic / clock, launch.traffic) + launch.gap;
}

double load_of(const LaunchTimes& launch, double clock) {
  return std::lerp(kMemoryLoad, 1.0, launch.arithmetic / clock / seconds_of(launch, clock));
}

}  // namespace

double PowerLoop::watts(double load) const {
  return model_.idle + (model_.draw - model_.idle) * load * std::pow(clock_, kExponent);
}

PowerLoop::Ran PowerLoop::run(const LaunchTimes& launch, double launches) {
  const double start_s = now_s_;
  double cycles = 0;
  while (launches > 0) {
    const double launch_s = seconds_of(launch, clock_);
    const double seconds = std::min(kStep_s, launches * launch_s);
    launches -= seconds == kStep_s ? seconds / launch_s : launches;
    cycles += seconds * clock_;
    step(seconds, load_of(launch, clock_));
  }
  const double seconds = now_s_ - start_s;
  return {seconds, seconds > 0 ? cycles / seconds : clock_};
}

void PowerLoop::idle(double seconds) {
  for (; seconds > 0; seconds -= kStep_s) step(std::min(seconds, kStep_s), 0);
}

void PowerLoop::step(double seconds, double load) {
  const double power = watts(load);
  const double headroom = (model_.cap - model_.idle) / ((model_.draw - model_.idle) * load);
  const auto rise = [&](double constant) {
    clock_ += (1 - clock_) * -std::expm1(-seconds / constant);
  };
  if (load == 0) {
    rise(kRegain_s);
  } else if (headroom >= 1) {
    rise(kRelease_s);
    rate_ = 0;
  } else {
    const double settled = std::pow(headroom, 1 / kExponent);
    const double angular = 2 * std::numbers::pi / kPeriod_s;
    rate_ += (angular * angular * (settled - clock_) - 2 / kFade_s * rate_) * seconds;
    clock_ += rate_ * seconds;
    if (clock_ != std::clamp(clock_, kLowestClock, 1.0)) rate_ = 0;
    clock_ = std::clamp(clock_, kLowestClock, 1.0);
  }
  now_s_ += seconds;
  joules_ += power * seconds;
  if (load > 0 && clock_ < kFullClock) capped_s_ += seconds;
  trace_.push_back({now_s_, capped_s_});
  if (now_s_ < renewal_s_) return;
  std::uniform_real_distribution<> uniform;
  energy_.push_back({now_s_ + kLatest_s * uniform(random_), joules_});
  watts_.push_back(power);
  renewal_s_ = now_s_ + kRenewal_s * (0.8 + 0.4 * uniform(random_));
}

double PowerLoop::capped_s(double at_s) {
  const double renewed_s = phase_s_ + kRenewal_s * std::floor((at_s - phase_s_) / kRenewal_s);
  while (trace_.size() > 1 && trace_[1].time_s <= renewed_s) trace_.pop_front();
  return trace_.empty() ? 0 : trace_.front().capped_s;
}

std::vector<CounterReading> PowerLoop::energy(double since_s, double until_s) const {
  std::vector<CounterReading> seen;
  std::ranges::copy_if(energy_, std::back_inserter(seen), [&](const CounterReading& reading) {
    return since_s <= reading.time_s && reading.time_s <= until_s;
  });
  return seen;
}

std::vector<double> PowerLoop::take_watts() { return std::exchange(watts_, {}); }

}  // namespace ridgebench
