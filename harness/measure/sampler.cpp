#include "harness/measure/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/base/statistics.hpp"
#include "harness/base/stopwatch.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Rules of docs/method.md, section 3.
constexpr double kHalfWidth = 0.005;
constexpr std::size_t kEnoughSamples = 30;
constexpr std::int64_t kFewestWarmUps = 3;
constexpr double kTicksPerSample = 1000;
// Where processes take turns of a few samples, none need be longer: the shorter a turn, the less
// the clock has wandered when the next process has its own.
constexpr double kLongestOfTurn_s = 0.005;
// Share of the row's time that enough samples span, however precise they are among themselves: a
// clock that wanders over tenths of a second shows in no interval taken from a shorter stretch.
constexpr double kSmallestSampling = 0.2;
// Shares of the row's time that a warm-up takes at least and at most. The least, because launches
// alone cannot tell a slow warm-up from none.
constexpr double kSmallestWarmUp = 0.1;
constexpr double kLargestWarmUp = 0.25;
// The share that sampling takes in turns: those that are compared then sample at the same time.
constexpr double kSamplingInTurns = 0.6;

// Rows with so much time go on, however precise, until a counter of energy can be read.
constexpr double kEnergyRow = 1.5 * kShortestEnergyWindow;

// The batches of a regime: whole rotations, timed as one sample or, where that costs nothing, as
// several.
class Batch {
 public:
  Batch(Device& device, std::span<const Launch> rotation, Regime regime,
        const SamplingLimits& limits)
      : device_(&device),
        rotation_(regime == Regime::cold ? rotation.first(1) : rotation),
        regime_(regime),
        shortest_s_(std::max(shortest(limits), kTicksPerSample * device.tick_s())),
        divisible_(limits.divisible) {}

  // Time of one launch: the mean of a batch, and of one of its samples.
  [[nodiscard]] Timing time() const { return time(rotation_); }
  [[nodiscard]] Timing time_sample(std::size_t i) const { return time(sample(i)); }

  // A launch that is not timed, after others had the machine: it finds cold code. The sample then
  // starts with what is last in turn to be used again.
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
  // The fewest; some have one more where the rotation does not divide evenly.
  [[nodiscard]] std::int64_t launches_per_sample() const {
    return launches() / static_cast<std::int64_t>(samples_);
  }

  // As many repetitions as make a batch span the shortest time of a sample, or as many samples as
  // leave each of them that time.
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
    return limits.end_turn ? std::min(share, kLongestOfTurn_s) : share;
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

// What comes between two turns; returns its seconds.
double between_turns(const Batch& batch, std::size_t turn, const SamplingLimits& limits) {
  if (!limits.end_turn) return 0;
  const double seconds = limits.end_turn();
  batch.settle_before(batch.first_of_turn(turn));
  return seconds;
}

// Launches until the running median is stable, and sizes the batches on the way.
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

// From a row's first sample to its last.
class MeteredWindow {
 public:
  explicit MeteredWindow(const Device& device) : device_(&device), before_(device.meters()) {}

  void add(double seconds, std::int64_t launches) {
    window_.busy_s += seconds;
    window_.launches += launches;
  }
  [[nodiscard]] Window end() {
    window_.elapsed_s = clock_.seconds();
    window_.meters = difference(before_, device_->meters());
    return std::move(window_);
  }
  [[nodiscard]] double busy_s() const { return window_.busy_s; }
  [[nodiscard]] bool has_energy() const { return energy_j(before_).has_value(); }

 private:
  const Device* device_;
  std::vector<Meter> before_;
  Stopwatch clock_;
  Window window_;
};

// What was sampled of a row.
struct Taken {
  std::vector<double> seconds{};
  std::vector<double> clocks{};
  double others_s = 0;  // that others took between turns
  MeteredWindow window;

  void add(const Batch& batch, std::size_t i) {
    const Timing timing = batch.time_sample(i);
    const std::int64_t launches = batch.launches_of_sample(i);
    seconds.push_back(timing.seconds);
    if (timing.clock_hz) clocks.push_back(*timing.clock_hz);
    window.add(timing.seconds * static_cast<double>(launches), launches);
  }
  void add_batch(const Batch& batch, const SamplingLimits& limits) {
    for (std::size_t turn = 0; turn < batch.turns(); ++turn) {
      check_stop(limits);
      others_s += between_turns(batch, turn, limits);
      const std::size_t end = batch.first_of_turn(turn + 1);
      for (std::size_t i = batch.first_of_turn(turn); i < end; ++i) add(batch, i);
    }
  }
};

}  // namespace

Samples take_samples(Device& device, std::span<const Launch> rotation, Regime regime,
                     const SamplingLimits& limits) {
  const Stopwatch clock;
  Batch batch(device, rotation, regime, limits);
  warm_up(batch, limits, clock);

  // While it waited for its first turn, others prepared their buffers; its own are slow once.
  if (limits.end_turn) Taken{.window = MeteredWindow(device)}.add_batch(batch, limits);

  Samples samples;
  samples.samples_per_batch = static_cast<std::int64_t>(batch.samples());
  samples.launches_per_sample = batch.launches_per_sample();
  const double tick = device.tick_s() / static_cast<double>(samples.launches_per_sample);
  Taken taken{.window = MeteredWindow(device)};
  std::size_t look = kEnoughSamples;
  const bool until_energy = taken.window.has_energy() && limits.seconds >= kEnergyRow;
  const double limit_s =
      limits.end_turn ? clock.seconds() + kSamplingInTurns * limits.seconds : limits.seconds;
  while (true) {
    taken.add_batch(batch, limits);
    const std::size_t count = taken.seconds.size();
    if (count >= look) {
      const bool enough = !until_energy || taken.window.busy_s() >= kShortestEnergyWindow;
      if (enough && !limits.end_turn && precise(taken.seconds, kHalfWidth, tick)) break;
      look = next_check(count);
    }
    if (count >= kFewestSamples && clock.seconds() - taken.others_s > limit_s) break;
  }
  samples.seconds = std::move(taken.seconds);
  samples.window = taken.window.end();
  if (!taken.clocks.empty()) samples.clock_hz = middle(taken.clocks);
  if (samples.seconds.size() < kEnoughSamples) samples.flags.emplace_back("few_samples");
  if (drifting(samples.seconds)) samples.flags.emplace_back("drift");
  if (bimodal(samples.seconds)) samples.flags.emplace_back("bimodal");
  return samples;
}

}  // namespace ridgebench
