// A device on which two techniques of known times take turns. Its clock is simulated, and launches
// do nothing but say whose they are, so that a thousand duels take a second.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/measure/duel/timing.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/power_loop.hpp"

namespace ridgebench {

struct DuelWorld {
  double slower = 1;       // cycles of technique B over those of technique A
  double noise = 0.002;    // of the time of a 5 ms batch; falls with the root of its length
  bool capped = false;     // the clock and the energy are those of power_loop.hpp
  double swing = 0;        // of the clock else, as a loop that never settles makes it oscillate
  double period_s = 0.04;  // of that oscillation
  double dip = 0;          // of the clock else, in every second half of `period_s`
  double dip_slower = 1;   // cycles of technique B then, beside `slower`: it waits for less
  double drift_per_s = 0;  // relative growth of all times
  bool clocked = true;     // batches know their clock
  std::uint64_t seed = 1;
};

class DuelDevice final : public Device {
 public:
  static constexpr std::size_t kSets = 4;
  static constexpr double kCap_w = 700;

  explicit DuelDevice(const DuelWorld& world) : world_(world), random_(world.seed) {
    phase_ = std::uniform_real_distribution<>(0, 2 * std::numbers::pi)(random_);
    if (world.capped)
      loop_.emplace(PowerModel{.cap = kCap_w, .draw = 1200, .idle = 100}, world.seed);
  }

  // Duels technique A against technique B.
  DuelTimes duel(const DuelLimits& limits) {
    const auto launches = sides_of_rotation();
    return time_duel(*this, launches[0], launches[1], limits);
  }
  DuelTimes cold_duel(const DuelLimits& limits) {
    const auto launches = sides_of_rotation();
    return time_cold_duel(*this, launches[0].front(), launches[1].front(), limits);
  }

  std::array<std::vector<Launch>, 2> sides_of_rotation() {
    std::array<std::vector<Launch>, 2> launches;
    for (std::size_t i = 0; i < 2 * kSets; ++i) {
      launches.at(i % 2).emplace_back([this, side = "AB"[i % 2], set = i / 2] {
        side_ = side;
        used_.insert(set);
      });
    }
    return launches;
  }

  [[nodiscard]] const std::string& sides() const { return sides_; }  // of all batches
  [[nodiscard]] std::size_t sets_used() const { return used_.size(); }
  [[nodiscard]] int idle_gaps() const { return idle_gaps_; }
  [[nodiscard]] int most_unfinished() const { return most_unfinished_; }
  [[nodiscard]] static double launch_s() { return 1e-3; }

  [[nodiscard]] std::string name() const override { return "duel"; }
  [[nodiscard]] Backend backend() const override { return Backend::cuda; }
  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] nlohmann::ordered_json identity() const override { return {}; }
  [[nodiscard]] Queue& queue() override { return queue_; }
  [[nodiscard]] double free_bytes() const override { return 0; }
  [[nodiscard]] DeviceMemory& memory() override { throw std::logic_error("no memory"); }
  [[nodiscard]] double tick_s() const override { return 1e-9; }
  [[nodiscard]] double launch_floor_s() const override { return 1e-6; }
  [[nodiscard]] double now_s() const override { return now_s_; }
  [[nodiscard]] std::vector<CounterReading> energy_readings(double since_s) const override {
    return loop_ ? loop_->energy(since_s, now_s_) : std::vector<CounterReading>();
  }

  std::unique_ptr<RunningBatch> start_batch(std::span<const Launch> rotation,
                                            std::int64_t repeats) override {
    for (const Launch& launch : rotation) launch();
    sides_ += side_;
    if (now_s_ >= busy_until_s_) ++idle_gaps_;
    const double begin_s = std::max(now_s_, busy_until_s_);
    const double cycles = static_cast<double>(repeats * std::ssize(rotation)) * launch_s() *
                          (side_ == 'B' ? slower_at(begin_s) : 1) *
                          (1 + world_.drift_per_s * begin_s);
    const Ran ran = run_from(begin_s, cycles * noise(cycles));
    const double end_s = begin_s + ran.seconds;
    busy_until_s_ = end_s;
    most_unfinished_ = std::max(most_unfinished_, ++unfinished_);
    Timing timing{ran.seconds, std::nullopt};
    if (world_.clocked) timing.clock_hz = 1e9 * ran.clock;
    return std::make_unique<Batch>(*this, timing, end_s);
  }
  Timing time_batch(std::span<const Launch> rotation, std::int64_t repeats) override {
    return start_batch(rotation, repeats)->wait();
  }
  Timing time_cold(const Launch& launch) override { return time_batch({&launch, 1}, 1); }
  void run(const Launch& launch) override { launch(); }

 private:
  class Batch final : public RunningBatch {
   public:
    Batch(DuelDevice& device, Timing timing, double end_s)
        : device_(&device), timing_(timing), end_s_(end_s) {}
    Timing wait() override {
      device_->now_s_ = std::max(device_->now_s_, end_s_);
      --device_->unfinished_;
      return timing_;
    }

   private:
    DuelDevice* device_;
    Timing timing_;
    double end_s_;
  };

  struct Ran {
    double seconds;
    double clock;  // mean share of the nominal one
  };
  // Runs what takes `cycles` seconds at the nominal clock.
  Ran run_from(double begin_s, double cycles) {
    if (world_.dip > 0) {
      const double clock = dips(begin_s) ? 1 - world_.dip : 1;
      return {cycles / clock, clock};
    }
    if (!loop_) {
      const double end_s = end_of(begin_s, cycles);
      return {end_s - begin_s, (clock_seconds(end_s) - clock_seconds(begin_s)) / (end_s - begin_s)};
    }
    static_cast<void>(loop_->capped_s(now_s_));  // forgets what was before
    loop_->idle(begin_s - busy_until_s_);
    const PowerLoop::Ran ran = loop_->run({.arithmetic = cycles}, 1);
    return {ran.seconds, ran.clock};
  }

  // Batches are short against the period, so that one clock holds for the whole of a batch.
  [[nodiscard]] bool dips(double s) const {
    return world_.dip > 0 && std::fmod(s, world_.period_s) >= world_.period_s / 2;
  }
  [[nodiscard]] double slower_at(double s) const {
    return world_.slower * (dips(s) ? world_.dip_slower : 1);
  }

  double noise(double seconds) {
    constexpr double kReference_s = 0.005;
    const double deviation = world_.noise * std::sqrt(kReference_s / seconds);
    return std::exp(deviation * std::normal_distribution<>()(random_));
  }
  // Seconds of the nominal clock since the start: the integral of 1 + swing sin(...).
  [[nodiscard]] double clock_seconds(double t) const {
    const double omega = 2 * std::numbers::pi / world_.period_s;
    return t - world_.swing / omega * std::cos(omega * t + phase_);
  }
  // When `cycles` seconds of the nominal clock have passed since `begin_s`.
  [[nodiscard]] double end_of(double begin_s, double cycles) const {
    const double wanted = clock_seconds(begin_s) + cycles;
    double end_s = begin_s + cycles;
    constexpr int kSteps = 8;  // the error falls by the swing with each
    for (int i = 0; i < kSteps; ++i) end_s += wanted - clock_seconds(end_s);
    return end_s;
  }

  DuelWorld world_;
  std::mt19937_64 random_;
  double phase_ = 0;
  Machine machine_;
  HostQueue queue_;
  char side_ = '?';
  std::string sides_;
  std::set<std::size_t> used_;
  double now_s_ = 0;
  double busy_until_s_ = 0;
  std::optional<PowerLoop> loop_;
  int idle_gaps_ = 0;
  int unfinished_ = 0;
  int most_unfinished_ = 0;
};

}  // namespace ridgebench
