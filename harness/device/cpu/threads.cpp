#include "harness/device/cpu/threads.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "roofline/units.hpp"

namespace ridgebench {
namespace {

// The first number of a list such as "8,2"; empty where OpenMP does not accept the text. A number
// beyond an int counts as the largest one.
std::optional<int> first_count(const std::string& text) {
  const std::string_view first = std::string_view(text).substr(0, text.find(','));
  const std::size_t begin = std::min(first.find_first_not_of(' '), first.size());
  const std::string_view digits = first.substr(begin, first.find_last_not_of(' ') + 1 - begin);
  int count = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), count);
  if (error == std::errc::result_out_of_range) count = std::numeric_limits<int>::max();
  const bool whole = end == digits.end() && error != std::errc::invalid_argument;
  return whole && count > 0 ? std::optional(count) : std::nullopt;
}

std::string note_of(const ThreadLimits& limits, int threads, bool by_quota) {
  if (!limits.asked) return {};
  const std::optional<int> asked = first_count(*limits.asked);
  if (asked && *asked <= threads) return {};
  const std::string why =
      !asked     ? "is not a number of threads from 1"
      : by_quota ? fmt::format("exceeds the control group's CPU quota of {:g}", *limits.cpu_quota)
      : *asked > limits.processors
          ? "exceeds the " + counted(static_cast<std::size_t>(limits.processors), "processor") +
                " of this process"
          : "exceeds another limit of OpenMP";
  return fmt::format("OMP_NUM_THREADS={} {}; the run uses {}", *limits.asked, why,
                     counted(static_cast<std::size_t>(threads), "thread"));
}

}  // namespace

ThreadCount count_threads(const ThreadLimits& limits) {
  ThreadCount count{.threads = limits.processors, .limited_by = "processors", .note = {}};
  const auto limit = [&count](int threads, std::string_view by) {
    if (threads >= count.threads) return;
    count.threads = std::max(1, threads);
    count.limited_by = by;
  };
  limit(limits.openmp, "openmp");
  if (limits.cpu_quota) {
    const double most = std::min(std::floor(*limits.cpu_quota), 1e6);
    limit(static_cast<int>(most), "cpu_quota");
  }
  count.note = note_of(limits, count.threads, count.limited_by == "cpu_quota");
  return count;
}

bool allow_processors(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(processor, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

int pin_threads(int threads, const std::vector<int>& processors) {
  int pinned = 0;
#pragma omp parallel num_threads(threads) reduction(+ : pinned)
  {
    const auto index = static_cast<std::size_t>(omp_get_thread_num());
    pinned += allow_processors({processors[index % processors.size()]}) ? 1 : 0;
  }
  return pinned;
}

}  // namespace ridgebench
