#include "harness/measure/turns.hpp"

#include <csignal>

#include "harness/base/stopwatch.hpp"

namespace ridgebench {

double stop_until_continued() {
  const Stopwatch clock;
  kill(0, SIGSTOP);  // stops the process group, including a script that started this process
  return clock.seconds();
}

}  // namespace ridgebench
