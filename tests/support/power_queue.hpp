// A Queue without a device behind it: a clock that a power limit moves, by a documented model with
// seeded noise. A launch adds its work, in seconds at the clock of a long load, to `work_s`.
//
// At the power limit a launch takes as many seconds as its joules do at the power of the limit. The
// clock gets there from that of the launch before with a time constant of 40 ms.
// The clock's deviation is a damped oscillation of 40 ms that random kicks keep going. A device
// that was idle gets a larger kick, because its power limit lets it start too fast and corrects
// that.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "kernels/common/queue.hpp"

namespace ridgebench {

class PowerQueue final : public Queue {
 public:
  explicit PowerQueue(std::uint64_t seed) : random_(seed) {}

  double work_s = 0;
  // Number of the same launches; 0: as many as make them take their work_s. A launch adds to both.
  double joules = 0;
  double limit_w = 0;  // 0: the power limit is far away

  [[nodiscard]] std::optional<double> power_capped_s() const override { return capped_s_; }
  [[nodiscard]] std::shared_ptr<void> allocate(std::size_t /*bytes*/) override { return nullptr; }

  [[nodiscard]] double time(const Launch& launch) override {
    kick(kIdleKick);
    return run({&launch, 1});
  }

  [[nodiscard]] std::vector<double> time_turns(std::span<const Turn> turns) override {
    kick(kIdleKick);
    std::vector<double> seconds;
    for (const Turn& turn : turns) seconds.push_back(run(turn));
    return seconds;
  }

 private:
  static constexpr double kPeriod_s = 0.04;
  static constexpr double kDamping = 0.1;    // share of the critical one
  static constexpr double kIdleKick = 0.02;  // standard deviations, as shares of the time
  static constexpr double kKickOfAStep = 0.003;
  static constexpr double kStep_s = 1e-3;
  static constexpr double kTimer = 0.003;  // noise of a measurement
  static constexpr double kFollows_s = 0.04;

  double normal() { return std::normal_distribution<>()(random_); }
  void kick(double size) { speed_ += size * kOmega * normal(); }

  double run(const Turn& turn) {
    work_s = 0;
    joules = 0;
    for (std::int64_t i = 0; i < turn.launches; ++i) (*turn.launch)();
    const double wanted = limit_w > 0 && joules > 0 ? joules / limit_w / work_s : 1;
    double seconds = 0;
    for (double rest = work_s; rest > 0; rest -= kStep_s) {
      const double step = std::min(rest, kStep_s) * slowed_ * (1 + deviation_);
      slowed_ += (wanted - slowed_) * -std::expm1(-step / kFollows_s);
      if (limit_w > 0) capped_s_ += step;
      seconds += step;
      kick(kKickOfAStep * std::sqrt(step / kStep_s));
      speed_ -= step * (kOmega * kOmega * deviation_ + 2 * kDamping * kOmega * speed_);
      deviation_ += step * speed_;
    }
    return seconds * (1 + kTimer * normal());
  }

  static constexpr double kOmega = 2 * std::numbers::pi / kPeriod_s;
  std::mt19937_64 random_;
  double slowed_ = 1;  // time over work, without the deviation
  double capped_s_ = 0;
  double deviation_ = 0;  // of the time that work takes
  double speed_ = 0;      // of the deviation, per second
};

}  // namespace ridgebench
