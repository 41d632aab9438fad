// Seconds for which a thread was ready to run and waited for a processor.
#pragma once

#include <sys/types.h>

namespace ridgebench {

class WaitingTime {
 public:
  // Waits of the main thread of a process.
  explicit WaitingTime(pid_t process);
  WaitingTime(const WaitingTime&) = delete;  // owns a file
  WaitingTime& operator=(const WaitingTime&) = delete;
  ~WaitingTime();

  // The total so far, by the system's own count; 0 if it has none. Source: Linux,
  // Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat.
  [[nodiscard]] double seconds() const;

 private:
  int file_;
};

}  // namespace ridgebench
