// The thread that called the library, whose processors and signal handlers the run changes.
#pragma once

#include <sched.h>

#include <array>
#include <csignal>

namespace ridgebench {

// Gives the thread back its processors, and the process its handlers, when the run ends. A device
// pins the threads of the harness. A kernel of a caller may start threads of its own, which inherit
// the processors of this one: while one is bound, this thread may use all again.
class CallerThread {
 public:
  CallerThread();
  CallerThread(const CallerThread&) = delete;  // restores once
  CallerThread& operator=(const CallerThread&) = delete;
  ~CallerThread();

  // Call it once the devices are open.
  void keep_pinned_processors();
  // Around the time in which a set of buffers is bound.
  void bound();
  void released();

 private:
  // The signals of listen_for_signals() and catch_crashes().
  static constexpr std::array kSignals{SIGINT,  SIGTERM, SIGHUP, SIGXCPU, SIGXFSZ, SIGPIPE,
                                       SIGSEGV, SIGBUS,  SIGFPE, SIGILL,  SIGABRT, SIGSYS};
  std::array<struct sigaction, kSignals.size()> handlers_{};
  cpu_set_t own_{};
  cpu_set_t pinned_{};
  int sets_bound_ = 0;
};

}  // namespace ridgebench
