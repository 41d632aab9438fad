// Times of a batch or a launch. Apart from device.hpp, whose JSON nvcc reads slowly.
#pragma once

#include <optional>
#include <string>

namespace ridgebench {

// One timed batch.
struct Timing {
  double seconds;                  // of the whole batch
  std::optional<double> clock_hz;  // held meanwhile, where the device measures it
};

// Seconds of the shortest batch whose clock is known. The timer of a GPU that counts cycles against
// nanoseconds has steps of up to 1 us, which are 0.02 % of that.
inline constexpr double kShortestClockWindow = 5e-3;
// True if a kernel of a launch may start before the launch ahead of it has ended.
struct Early {
  std::optional<bool> early;
  std::string unknown;  // why `early` is empty
};

}  // namespace ridgebench
