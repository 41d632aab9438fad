// How many OpenMP threads a host measures with, where they run, and their stacks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgebench {

// Limits of the number of threads.
struct ThreadLimits {
  int processors = 1;                // that the process may run on, by its affinity mask
  std::optional<double> cpu_quota;   // processors' worth of time that control groups grant
  std::optional<std::string> asked;  // OMP_NUM_THREADS
  int openmp = 1;                    // threads that OpenMP starts by its variables
};

struct ThreadCount {
  int threads = 1;
  std::string_view limited_by;  // "processors", "cpu_quota" or "openmp"
  std::string note;             // why OMP_NUM_THREADS is not honoured; empty if it is
};

// The least of all limits, at least 1. A quota of 1.5 gives one thread: a second one would wait
// half of the time, and all others with it.
ThreadCount count_threads(const ThreadLimits& limits);

// Lets the calling thread run on these processors only. Returns false if the system refuses.
bool allow_processors(const std::vector<int>& processors);

// Binds thread i of the OpenMP team to the i-th processor; returns how many were bound.
int pin_threads(int threads, const std::vector<int>& processors);

}  // namespace ridgebench
