#include "harness/measure/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/base/statistics.hpp"
#include "harness/measure/probing/probes.hpp"
#include "harness/measure/sampling/warm_up.hpp"
#include "harness/results/doubts.hpp"

namespace ridgebench {
namespace {

// Rules of docs/method.md, section 3.
constexpr double kHalfWidth = 0.005;
constexpr double kTicksPerSample = 1000;
// Longest sample if processes take turns. The clock changes less between two processes' turns if
// the turns are short.
constexpr double kLongestOfTurn_s = 0.005;
// Smallest share of the case's time that kEnoughSamples span. The interval of samples from a
// shorter time does not show a clock that changes over tenths of a second.
constexpr double kSmallestSampling = 0.2;
// Share of the case's time for sampling in turns, so that compared processes sample together.
constexpr double kSamplingInTurns = 0.6;

// A batch is longer than the shortest window of a clock by this factor, because a clock that rises
// after the warm-up shortens the batches.
constexpr double kClockMargin = 1.2;
// A case with this much time samples until an energy counter can be read.
constexpr double kLeastForEnergy_s = 1.5 * kShortestEnergyWindow;

double shortest_sample(const Device& device, const SamplingLimits& limits) {
  double shortest = kSmallestSampling * limits.seconds / double{kEnoughSamples};
  if (limits.turns != nullptr) shortest = std::min(shortest, kLongestOfTurn_s);
  if (device.asynchronous()) shortest = std::max(shortest, kClockMargin * kShortestClockWindow);
  return std::max(shortest, kTicksPerSample * device.tick_s());
}

// The samples of a case and their cost.
class Sampling {
 public:
  Sampling(Device& device, Batch& batch, const SamplingLimits& limits)
      : device_(&device), batch_(&batch), limits_(&limits), meters_(read_meters()) {}

  void add_batch() {
    for (std::size_t turn = 0; turn < batch_->turns(); ++turn) {
      check_stop(*limits_);
      if (limits_->turns != nullptr) {
        const double start_s = device_->now_s();
        limits_->turns->end_turn();
        others_s_ += device_->now_s() - start_s;
        batch_->settle_before(batch_->first_of_turn(turn));
      }
      const std::size_t end = batch_->first_of_turn(turn + 1);
      for (std::size_t i = batch_->first_of_turn(turn); i < end; ++i) add(i);
    }
  }

  // True if the samples are precise, or time is up. A case that the power limit slows down goes on,
  // because its clock swings. Batches with gaps, as those of cold launches, are too rarely busy.
  [[nodiscard]] bool finished() {
    if (seconds_.size() < kFewestSamples) return false;
    if (window_.busy_s >= limits_->most_s) return true;
    if (!late() && !precise_enough()) return false;
    if (watches_power() && window_.busy_s < kShortestPowerWindow_s) return false;
    power_capped_ =
        power_capped_ || (watches_power() && capped_share(read_meters()) > kCappedShare);
    const double least_s = power_capped_ ? kSustained_s : 0;
    return window_.busy_s >= std::max(least_s, limits_->least_s);
  }

  // Takes a probe if one is due, in the time of the case. It ends with launches that are no
  // samples. On a GPU the batch after it is none either, because the device had a pause.
  void probe() {
    if (limits_->probes == nullptr || !limits_->probes->due(seconds_.size())) return;
    // A thread watches the counter of an asynchronous device, and reading its meters takes long.
    std::vector<Meter> before;
    if (!device_->asynchronous()) before = device_->meters();
    batch_->drain();
    limits_->probes->take(seconds_.back(), launcher());
    if (device_->asynchronous()) {
      batch_->time();
    } else {
      add_to(of_probes_, difference(before, device_->meters()));
    }
  }

  // Takes the probes that were not due before the last sample. `seconds`: of all samples.
  void end_probes(std::vector<double> seconds) {
    if (limits_->probes == nullptr) return;
    while (!limits_->probes->all_taken()) {
      check_stop(*limits_);
      limits_->probes->take(seconds.back(), launcher());
    }
    limits_->probes->compare_times(middle(seconds), launcher());
  }

  [[nodiscard]] Samples end() {
    const std::vector<Meter> now = read_meters();
    std::optional<PowerState> state;
    // A shorter window, as that of a burst, may lie between two renewals of the counter.
    const bool long_enough = device_->now_s() - warm_s_ >= kShortestPowerWindow_s;
    if (watches_power() && long_enough) state = power_state(capped_share(now));
    window_.elapsed_s = end_s_ - start_s_;
    window_.meters = difference(meters_, now);
    if (!of_probes_.empty()) window_.meters = difference(of_probes_, window_.meters);
    std::vector<CounterReading> readings = device_->energy_readings(start_s_);
    std::erase_if(readings, [this](const CounterReading& r) { return r.time_s > end_s_; });
    window_.power = fit_renewals(readings);
    batch_->drain();
    Samples samples;
    if (total_of(kCpuThrottledMeter, window_.meters).value_or(0) > 0) {
      samples.flags.emplace_back("cpu_throttled");
    }
    samples.power_capped = power_capped_;
    samples.power_state = state;
    samples.seconds = std::move(seconds_);
    samples.window = std::move(window_);
    if (clocks_.size() == samples.seconds.size()) samples.clocks_hz = clocks_;
    if (!clocks_.empty()) samples.clock_hz = middle(clocks_);
    if (samples.seconds.size() < kEnoughSamples) samples.flags.emplace_back(kFewSamples);
    if (drifting(samples.seconds)) samples.flags.emplace_back("drift");
    if (bimodal(samples.seconds)) samples.flags.emplace_back("bimodal");
    return samples;
  }

 private:
  [[nodiscard]] Probes::Launcher launcher() {
    return [this](NewInputs::Sets sets) { return batch_->time_once(sets.first, sets.count); };
  }

  [[nodiscard]] std::vector<Meter> read_meters() {
    return batch_->while_busy([this] { return device_->meters(); });
  }

  void add(std::size_t i) {
    const Timing timing = batch_->time_sample(i);
    const std::int64_t launches = batch_->launches_of_sample(i);
    const double seconds = timing.seconds * static_cast<double>(launches);
    end_s_ = device_->now_s();
    if (seconds_.empty()) start_s_ = end_s_ - seconds;
    seconds_.push_back(timing.seconds);
    if (timing.clock_hz) clocks_.push_back(*timing.clock_hz);
    window_.busy_s += seconds;
    window_.launches += launches;
  }

  [[nodiscard]] bool late() const {
    const double share = limits_->turns != nullptr ? kSamplingInTurns : 1;
    return device_->now_s() - warm_s_ - others_s_ > share * limits_->seconds;
  }

  [[nodiscard]] bool precise_enough() {
    if (seconds_.size() < next_check_ || limits_->turns != nullptr) return false;
    next_check_ = next_check(seconds_.size());
    const bool needs_energy =
        total_of(kEnergyMeter, meters_) && window_.busy_s < kShortestEnergyWindow;
    if (needs_energy && limits_->seconds >= kLeastForEnergy_s) return false;
    const double tick_s = device_->tick_s() / static_cast<double>(batch_->launches_per_sample());
    return precise(seconds_, kHalfWidth, tick_s);
  }

  // Batches that leave the device idle between them say nothing about the power of a launch.
  [[nodiscard]] bool watches_power() const {
    return batch_->ahead() && total_of(kPowerCappedMeter, meters_);
  }

  // The share of the sampling so far for which the power limit lowered the clock.
  [[nodiscard]] double capped_share(const std::vector<Meter>& now) const {
    const double before_s = *total_of(kPowerCappedMeter, meters_);
    const double capped_s = total_of(kPowerCappedMeter, now).value_or(before_s) - before_s;
    return capped_s / (device_->now_s() - warm_s_);
  }

  Device* device_;
  Batch* batch_;
  const SamplingLimits* limits_;
  std::vector<Meter> meters_;     // before the first sample
  std::vector<Meter> of_probes_;  // what they took in all
  double warm_s_ = device_->now_s();
  double start_s_ = 0;  // of the first sample
  double end_s_ = 0;    // of the last
  std::vector<double> seconds_;
  std::vector<double> clocks_;
  std::size_t next_check_ = kEnoughSamples;
  bool power_capped_ = false;
  double others_s_ = 0;  // of other processes between turns
  Window window_;
};

}  // namespace

Samples take_samples(Device& device, std::span<const Launch> rotation, Regime regime,
                     const SamplingLimits& limits) {
  const bool in_turns = limits.turns != nullptr;
  Batch batch(device, rotation, regime,
              {.shortest_s = shortest_sample(device, limits),
               .divisible = limits.divisible,
               .ahead = device.asynchronous() && !in_turns});
  const double start_s = device.now_s();
  warm_up(device, batch, limits);
  const bool inherited_cap = limits.inherited_cap && !cap_has_gone(device, batch, limits);

  // The first use of this process's pages is slow, because other processes prepared their buffers
  // while it waited. A batch before the first sample takes that time.
  if (in_turns) Sampling(device, batch, limits).add_batch();

  Sampling sampling(device, batch, limits);
  do {
    sampling.add_batch();
    sampling.probe();
  } while (!sampling.finished());
  std::vector<LoadReading> load;
  if (limits.least_s > 0) load = device.load_readings(start_s);
  Samples samples = sampling.end();
  sampling.end_probes(samples.seconds);
  samples.load = std::move(load);
  if (inherited_cap) samples.flags.emplace_back("inherited_cap");
  samples.samples_per_batch = static_cast<std::int64_t>(batch.samples());
  samples.launches_per_sample = batch.launches_per_sample();
  return samples;
}

}  // namespace ridgebench
