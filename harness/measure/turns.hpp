// Processes that measure the same cases take turns, and only one of them runs at a time. If the
// machine is slow for a tenth of a second or more, all processes are then slow alike. Before each
// turn, a process stops its process group with all threads. The process that started it continues
// it by SIGCONT (roofline/ridgebench/judge/turns.py).
#pragma once

#include <cstddef>

namespace ridgebench {

// Maximum samples of a batch between two turns.
inline constexpr std::size_t kSamplesPerTurn = 4;

// The sampler calls this interface between two turns.
class Turns {
 public:
  Turns() = default;
  Turns(const Turns&) = delete;  // the sampler points to it
  Turns& operator=(const Turns&) = delete;
  virtual ~Turns() = default;

  // Waits for the turns of the other processes.
  virtual void end_turn() = 0;
};

// Stops this process group until SIGCONT and returns the seconds that passed.
double stop_until_continued();

// One of `together` processes that begin at the same time leaves the others their shares of the
// host's threads, and stops until SIGCONT. Returns the seconds that passed; 0 without others.
double wait_for_start(int together);

}  // namespace ridgebench
