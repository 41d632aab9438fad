#include "harness/measure/turns.hpp"

#include <unistd.h>

#include <csignal>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "harness/base/stopwatch.hpp"

namespace ridgebench {

void die_with_parent(pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  // A parent that ended before this call sends no signal.
  if (getppid() != parent) raise(SIGKILL);
}

double stop_until_continued() {
  const Stopwatch clock;
  kill(0, SIGSTOP);  // stops the process group, including a script that started this process
  return clock.seconds();
}

}  // namespace ridgebench
