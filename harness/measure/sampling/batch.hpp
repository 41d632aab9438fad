// A batch of a regime is one or more rotations. The sampler times it as one sample, or as several
// if that costs nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "harness/base/regime.hpp"
#include "harness/device/device.hpp"
#include "harness/measure/turns.hpp"

namespace ridgebench {

struct BatchRules {
  double shortest_s = 0;   // of a sample
  bool divisible = false;  // each part of a rotation may be a sample
  bool ahead = false;      // the device gets the next batch before the last one is done
};

class Batch {
 public:
  // `rotation` holds one launch for each buffer set. The cold regime uses the first launch only,
  // and never runs ahead.
  Batch(Device& device, std::span<const Launch> rotation, Regime regime, const BatchRules& rules);

  // Mean time of a launch in a batch, and in one sample of the batch.
  Timing time();
  Timing time_sample(std::size_t i);

  // Mean time of the launches number first .. first + count - 1 of the rotation, once each. The
  // device must have no other batch.
  double time_once(std::size_t first, std::size_t count);

  [[nodiscard]] bool ahead() const { return rules_.ahead; }

  // Calls `read` while a device that runs ahead is busy, with a batch that is not a sample.
  template <class Read>
  auto while_busy(const Read& read) {
    keep_busy();
    return read();
  }
  // Waits for the batches that were started, which are no samples.
  void drain();

  // Runs one launch untimed, because the code of other processes has evicted the kernel's code. The
  // launch uses the buffer set whose next use is furthest from sample i.
  void settle_before(std::size_t i) const;

  [[nodiscard]] std::size_t samples() const { return samples_; }
  [[nodiscard]] std::size_t turns() const {
    return (samples_ + kSamplesPerTurn - 1) / kSamplesPerTurn;
  }
  [[nodiscard]] std::size_t first_of_turn(std::size_t i) const { return i * samples_ / turns(); }
  [[nodiscard]] std::int64_t launches() const { return launches(rotation_); }
  [[nodiscard]] std::int64_t launches_of_sample(std::size_t i) const { return launches(sample(i)); }
  // Fewest launches of a sample. After an uneven division, some samples have one more.
  [[nodiscard]] std::int64_t launches_per_sample() const {
    return launches() / static_cast<std::int64_t>(samples_);
  }

  // Sets the repetitions so that a batch takes the shortest time of a sample, or the number of
  // samples so that each sample does.
  void fit(double seconds_of_a_launch);

 private:
  struct Started {
    std::int64_t repeats;
    std::unique_ptr<RunningBatch> running;
  };
  void start(std::int64_t repeats);
  Timing wait();
  void keep_busy();
  [[nodiscard]] Timing time(std::span<const Launch> part) const;
  [[nodiscard]] std::span<const Launch> sample(std::size_t i) const;
  [[nodiscard]] std::size_t first_of_sample(std::size_t i) const {
    return i * rotation_.size() / samples_;
  }
  [[nodiscard]] std::int64_t launches(std::span<const Launch> part) const {
    return repeats_ * static_cast<std::int64_t>(part.size());
  }

  Device* device_;
  std::span<const Launch> rotation_;
  Regime regime_;
  BatchRules rules_;
  std::int64_t repeats_ = 1;
  std::size_t samples_ = 1;
  double rotation_s_ = 0;        // by the last call of fit()
  std::deque<Started> started_;  // at most two
};

}  // namespace ridgebench
