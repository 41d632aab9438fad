#include "harness/measure/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/base/statistics.hpp"
#include "harness/base/stopwatch.hpp"

namespace ridgebench {
namespace {

// Rules of docs/method.md, section 3.
constexpr double kHalfWidth = 0.005;
constexpr std::size_t kEnoughSamples = 30;
constexpr std::int64_t kFewestWarmUps = 3;
constexpr double kTicksPerSample = 1000;
// Longest sample if processes take turns. The clock changes less between two processes' turns if
// the turns are short.
constexpr double kLongestOfTurn_s = 0.005;
// Smallest share of the case's time that kEnoughSamples span. The interval of samples from a
// shorter time does not show a clock that changes over tenths of a second.
constexpr double kSmallestSampling = 0.2;
// Smallest and largest share of the case's time that the warm-up takes. The times of a few launches
// do not show a slow warm-up, so there is a smallest share.
constexpr double kSmallestWarmUp = 0.1;
constexpr double kLargestWarmUp = 0.25;
// Share of the case's time for sampling in turns, so that compared processes sample together.
constexpr double kSamplingInTurns = 0.6;

// A case with this much time samples until an energy counter can be read.
constexpr double kLeastForEnergy_s = 1.5 * kShortestEnergyWindow;

// A batch of a regime is one or more rotations. The sampler times it as one sample, or as several
// if that costs nothing.
class Batch {
 public:
  Batch(Device& device, std::span<const Launch> rotation, Regime regime,
        const SamplingLimits& limits)
      : device_(&device),
        rotation_(regime == Regime::cold ? rotation.first(1) : rotation),
        regime_(regime),
        shortest_s_(std::max(shortest(limits), kTicksPerSample * device.tick_s())),
        divisible_(limits.divisible) {}

  // Mean time of a launch in a batch, and in one sample of the batch.
  [[nodiscard]] Timing time() const { return time(rotation_); }
  [[nodiscard]] Timing time_sample(std::size_t i) const { return time(sample(i)); }

  // Runs one launch untimed, because the code of other processes has evicted the kernel's code. The
  // launch uses the buffer set whose next use is furthest from sample i.
  void settle_before(std::size_t i) const {
    if (regime_ == Regime::cold) return;
    const std::size_t sets = rotation_.size();
    device_->run(rotation_[(first_of_sample(i) + sets - 1) % sets]);
  }

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

  // Sets the repetitions so that a batch takes shortest_s_, or the number of samples so that each
  // sample takes shortest_s_.
  void fit(double seconds_of_a_launch) {
    if (regime_ == Regime::cold || seconds_of_a_launch <= 0) return;
    const double rotation_s = seconds_of_a_launch * static_cast<double>(rotation_.size());
    repeats_ = static_cast<std::int64_t>(std::ceil(shortest_s_ / rotation_s));
    if (!divisible_) return;
    const auto most = static_cast<double>(rotation_.size());
    samples_ = static_cast<std::size_t>(std::clamp(rotation_s / shortest_s_, 1.0, most));
  }

 private:
  static double shortest(const SamplingLimits& limits) {
    const double share = kSmallestSampling * limits.seconds / double{kEnoughSamples};
    return limits.turns != nullptr ? std::min(share, kLongestOfTurn_s) : share;
  }
  [[nodiscard]] std::span<const Launch> sample(std::size_t i) const {
    const std::size_t first = first_of_sample(i);
    return rotation_.subspan(first, first_of_sample(i + 1) - first);
  }
  [[nodiscard]] std::size_t first_of_sample(std::size_t i) const {
    return i * rotation_.size() / samples_;
  }
  [[nodiscard]] std::int64_t launches(std::span<const Launch> part) const {
    return repeats_ * static_cast<std::int64_t>(part.size());
  }
  [[nodiscard]] Timing time(std::span<const Launch> part) const {
    Timing timing = regime_ == Regime::cold ? device_->time_cold(part.front())
                                            : device_->time_batch(part, repeats_);
    timing.seconds /= static_cast<double>(launches(part));
    return timing;
  }

  Device* device_;
  std::span<const Launch> rotation_;
  Regime regime_;
  double shortest_s_;
  bool divisible_;
  std::int64_t repeats_ = 1;
  std::size_t samples_ = 1;
};

void check_stop(const SamplingLimits& limits) {
  if (limits.stop && limits.stop()) throw Interrupted();
}

// Launches until the running median is stable, and fits the size of the batches.
void warm_up(Batch& batch, const SamplingLimits& limits, const Stopwatch& clock) {
  const double shortest = std::max(limits.warm_up_s, kSmallestWarmUp * limits.seconds);
  const double longest = std::max(limits.warm_up_s, kLargestWarmUp * limits.seconds);
  std::vector<double> times;
  std::int64_t launches = limits.launched;
  while (true) {
    check_stop(limits);
    launches += batch.launches();
    times.push_back(batch.time().seconds);
    batch.fit(times.back());
    const bool warm =
        launches >= kFewestWarmUps && clock.seconds() >= shortest && stable_median(times);
    if (warm || (launches >= kFewestWarmUps && clock.seconds() > longest)) return;
  }
}

// The samples of a case and their cost.
class Sampling {
 public:
  explicit Sampling(const Device& device) : device_(&device), meters_(device.meters()) {}

  void add_batch(const Batch& batch, const SamplingLimits& limits) {
    for (std::size_t turn = 0; turn < batch.turns(); ++turn) {
      check_stop(limits);
      if (limits.turns != nullptr) {
        others_s_ += limits.turns->end_turn();
        batch.settle_before(batch.first_of_turn(turn));
      }
      const std::size_t end = batch.first_of_turn(turn + 1);
      for (std::size_t i = batch.first_of_turn(turn); i < end; ++i) add(batch, i);
    }
  }

  [[nodiscard]] const std::vector<double>& seconds() const { return seconds_; }
  // Seconds of other processes between turns.
  [[nodiscard]] double others_s() const { return others_s_; }
  [[nodiscard]] bool needs_energy() const {
    return total_of(kEnergyMeter, meters_).has_value() && window_.busy_s < kShortestEnergyWindow;
  }

  [[nodiscard]] Samples end() {
    window_.elapsed_s = clock_.seconds();
    window_.meters = difference(meters_, device_->meters());
    Samples samples;
    if (total_of(kCpuThrottledMeter, window_.meters).value_or(0) > 0) {
      samples.flags.emplace_back("cpu_throttled");
    }
    samples.seconds = std::move(seconds_);
    samples.window = std::move(window_);
    if (!clocks_.empty()) samples.clock_hz = middle(clocks_);
    if (samples.seconds.size() < kEnoughSamples) samples.flags.emplace_back("few_samples");
    if (drifting(samples.seconds)) samples.flags.emplace_back("drift");
    if (bimodal(samples.seconds)) samples.flags.emplace_back("bimodal");
    return samples;
  }

 private:
  void add(const Batch& batch, std::size_t i) {
    const Timing timing = batch.time_sample(i);
    const std::int64_t launches = batch.launches_of_sample(i);
    seconds_.push_back(timing.seconds);
    if (timing.clock_hz) clocks_.push_back(*timing.clock_hz);
    window_.busy_s += timing.seconds * static_cast<double>(launches);
    window_.launches += launches;
  }

  const Device* device_;
  std::vector<Meter> meters_;  // before the first sample
  Stopwatch clock_;
  std::vector<double> seconds_;
  std::vector<double> clocks_;
  double others_s_ = 0;
  Window window_;
};

}  // namespace

Samples take_samples(Device& device, std::span<const Launch> rotation, Regime regime,
                     const SamplingLimits& limits) {
  const Stopwatch clock;
  const bool in_turns = limits.turns != nullptr;
  Batch batch(device, rotation, regime, limits);
  warm_up(batch, limits, clock);

  // The first use of this process's pages is slow, because other processes prepared their buffers
  // while it waited. A batch before the first sample takes that time.
  if (in_turns) Sampling(device).add_batch(batch, limits);

  Sampling sampling(device);
  const std::vector<double>& seconds = sampling.seconds();
  const double tick = device.tick_s() / static_cast<double>(batch.launches_per_sample());
  const double limit_s =
      in_turns ? clock.seconds() + kSamplingInTurns * limits.seconds : limits.seconds;
  std::size_t next = kEnoughSamples;
  while (seconds.size() < kFewestSamples || clock.seconds() - sampling.others_s() <= limit_s) {
    sampling.add_batch(batch, limits);
    if (seconds.size() < next) continue;
    const bool enough = limits.seconds < kLeastForEnergy_s || !sampling.needs_energy();
    if (enough && !in_turns && precise(seconds, kHalfWidth, tick)) break;
    next = next_check(seconds.size());
  }
  Samples samples = sampling.end();
  samples.samples_per_batch = static_cast<std::int64_t>(batch.samples());
  samples.launches_per_sample = batch.launches_per_sample();
  return samples;
}

}  // namespace ridgebench
