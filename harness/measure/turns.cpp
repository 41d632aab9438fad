#include "harness/measure/turns.hpp"

#include <omp.h>

#include <algorithm>
#include <csignal>

#include "harness/base/stopwatch.hpp"

namespace ridgebench {

double stop_until_continued() {
  const Stopwatch clock;
  kill(0, SIGSTOP);  // stops the process group, including a script that started this process
  return clock.seconds();
}

double wait_for_start(int together) {
  if (together == 0) return 0;
  omp_set_num_threads(std::max(1, omp_get_max_threads() / together));
  return stop_until_continued();
}

}  // namespace ridgebench
