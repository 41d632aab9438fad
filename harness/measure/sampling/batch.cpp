#include "harness/measure/sampling/batch.hpp"

#include <algorithm>
#include <cmath>

#include "harness/device/own_work.hpp"

namespace ridgebench {
namespace {

// Seconds that reading the meters of a GPU may take.
constexpr double kMetersRead_s = 0.03;
// The queue of a device holds two batches: the one that runs and the next.
constexpr std::size_t kStartedAhead = 2;

}  // namespace

Batch::Batch(Device& device, std::span<const Launch> rotation, Regime regime,
             const BatchRules& rules)
    : device_(&device),
      rotation_(regime == Regime::cold ? rotation.first(1) : rotation),
      regime_(regime),
      rules_(rules) {
  if (regime == Regime::cold) rules_.ahead = false;
}

Timing Batch::time() {
  if (!rules_.ahead) return time(rotation_);
  while (true) {
    while (started_.size() < kStartedAhead) start(repeats_);
    const std::int64_t repeats = started_.front().repeats;
    Timing timing = wait();
    if (repeats != repeats_) continue;  // started before fit(), or to keep the device busy
    timing.seconds /= static_cast<double>(launches());
    return timing;
  }
}

Timing Batch::time_sample(std::size_t i) { return rules_.ahead ? time() : time(sample(i)); }

double Batch::time_once(std::size_t first, std::size_t count) {
  if (regime_ == Regime::cold) return device_->time_cold(rotation_.front()).seconds;
  return device_->time_once(rotation_.subspan(first, count)).seconds / static_cast<double>(count);
}

void Batch::start(std::int64_t repeats) {
  started_.push_back({repeats, device_->start_batch(rotation_, repeats)});
}

Timing Batch::wait() {
  const Started oldest = std::move(started_.front());
  started_.pop_front();
  const Timing timing = oldest.running->wait();
  OwnWork::note_return();
  return timing;
}

void Batch::drain() {
  while (!started_.empty()) wait();
}

// A batch that was just started may end before `read` does, so a long one follows it.
void Batch::keep_busy() {
  const double batch_s = rotation_s_ * static_cast<double>(repeats_);
  if (!rules_.ahead || (!started_.empty() && batch_s >= kMetersRead_s)) return;
  if (started_.size() == kStartedAhead) wait();
  // A multiple of the batch, because a GPU has a graph of that many launches.
  const double batches = batch_s > 0 ? std::ceil(kMetersRead_s / batch_s) : 1;
  start(repeats_ * static_cast<std::int64_t>(batches));
}

void Batch::settle_before(std::size_t i) const {
  if (regime_ == Regime::cold) return;
  const std::size_t sets = rotation_.size();
  device_->run(rotation_[(first_of_sample(i) + sets - 1) % sets]);
}

void Batch::fit(double seconds_of_a_launch) {
  if (regime_ == Regime::cold || seconds_of_a_launch <= 0) return;
  rotation_s_ = seconds_of_a_launch * static_cast<double>(rotation_.size());
  repeats_ = static_cast<std::int64_t>(std::ceil(rules_.shortest_s / rotation_s_));
  if (!rules_.divisible) return;
  const auto most = static_cast<double>(rotation_.size());
  samples_ = static_cast<std::size_t>(std::clamp(rotation_s_ / rules_.shortest_s, 1.0, most));
}

std::span<const Launch> Batch::sample(std::size_t i) const {
  const std::size_t first = first_of_sample(i);
  return rotation_.subspan(first, first_of_sample(i + 1) - first);
}

Timing Batch::time(std::span<const Launch> part) const {
  Timing timing = regime_ == Regime::cold ? device_->time_cold(part.front())
                                          : device_->time_batch(part, repeats_);
  OwnWork::note_return();
  timing.seconds /= static_cast<double>(launches(part));
  return timing;
}

}  // namespace ridgebench
