// Turns between processes that measure the same cases, so that whatever slows the machine for a
// tenth of a second or more slows all of them alike. Only one process runs at a time. Before each
// turn, a process stops its process group, with all its threads, until the process that started it
// continues it by SIGCONT (roofline/ridgebench/compare/turns.py).
#pragma once

namespace ridgebench {

// What the sampler calls between two turns.
class Turns {
 public:
  Turns() = default;
  Turns(const Turns&) = delete;  // the sampler points to it
  Turns& operator=(const Turns&) = delete;
  virtual ~Turns() = default;

  // Lets the others have their turns; returns the seconds that they took.
  virtual double end_turn() = 0;
};

// Stops this process group until it is continued; returns the seconds that passed.
double stop_until_continued();

// Ends this process when its parent ends, because no other process would continue it.
void die_with_parent();

}  // namespace ridgebench
