// The clock and the power of a simulated GPU whose power is capped. All of it is a made-up model
// with the features that make such a GPU hard to measure:
// - At a share f of the full clock, a launch draws idle + (draw - idle) * load * f^2.5 watts. The
//   load is 1 where arithmetic takes all of the time, and 0.45 where memory does.
// - Where that exceeds the cap at the full clock, a second-order loop with a period of 40 ms moves
//   the clock to the share at which the power is the cap. Its swings fade with a time constant of
//   0.12 s, so that they have settled after about 0.5 s.
// - While the device idles it regains headroom: the clock rises to the full one with a time
//   constant of 0.06 s, and the next launches swing around their own clock. After 10 ms at a cap
//   that lowers the clock by a fifth, the swings are some 4 %.
// - Where the power stays below the cap, a lowered clock rises with a time constant of 0.12 s.
// - The energy counter is renewed about every 100 ms, and a reader sees that up to 10 ms late.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "harness/base/step_fit.hpp"

namespace ridgebench {

// Watts.
struct PowerModel {
  double cap = 0;
  double draw = 0;  // of arithmetic at the full clock
  double idle = 0;
};

// One launch, in seconds at the full clock. The longer of the first two decides.
struct LaunchTimes {
  double arithmetic = 0;  // follows the clock
  double traffic = 0;     // does not
  double gap = 0;         // neither computes nor moves data
};

class PowerLoop {
 public:
  PowerLoop(const PowerModel& model, std::uint64_t seed)
      : model_(model), random_(seed), phase_s_(0.1 * std::fmod(0.618 * double(seed), 1)) {}

  struct Ran {
    double seconds = 0;
    double clock = 1;  // mean share of the full clock
  };
  Ran run(const LaunchTimes& launch, double launches);
  void idle(double seconds);

  // Seconds for which a clock below the full one had been held at some moment, as a counter shows
  // them that is renewed every 100 ms. The moment must not be before the last but one of the calls.
  [[nodiscard]] double capped_s(double at_s);
  // Renewals of the energy counter that a reader saw until a moment.
  [[nodiscard]] std::vector<CounterReading> energy(double since_s, double until_s) const;
  // Watts, every 100 ms since the last call.
  [[nodiscard]] std::vector<double> take_watts();

 private:
  struct Moment {
    double time_s;
    double capped_s;
  };
  void step(double seconds, double load);
  [[nodiscard]] double watts(double load) const;

  PowerModel model_;
  std::mt19937_64 random_;
  double phase_s_;  // of the counter of capped time
  double now_s_ = 0;
  double clock_ = 1;
  double rate_ = 0;  // change of the clock per second
  double joules_ = 0;
  double capped_s_ = 0;
  double renewal_s_ = 0;  // of the energy counter, the next
  std::deque<Moment> trace_;
  std::vector<CounterReading> energy_;
  std::vector<double> watts_;
};

}  // namespace ridgebench
