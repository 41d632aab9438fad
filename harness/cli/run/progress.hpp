// How far a run is, on stderr: one line that changes on a terminal, a new line now and then in a
// log.
#pragma once

#include <string>

#include "harness/base/stopwatch.hpp"

namespace ridgebench {

class Progress {
 public:
  // `total` counts the cases. A log gets a line at most every `interval_s` seconds.
  explicit Progress(std::size_t total, double interval_s = 15)
      : total_(total), interval_s_(interval_s) {}
  Progress(const Progress&) = delete;  // the destructor clears the line
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Says that `done` cases are done, the last one being `what`.
  void update(std::size_t done, const std::string& what);
  // Says how far something else is that counts no cases.
  void show(const std::string& text) { show(text, ""); }

 private:
  void show(const std::string& text, const std::string& bar);

  std::size_t total_;
  double interval_s_;
  double logged_s_ = 0;  // when the clock showed the last line of a log
  bool shown_ = false;   // whether a line is on the terminal
  Stopwatch clock_;
};

}  // namespace ridgebench
