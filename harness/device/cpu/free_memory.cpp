#include "harness/device/cpu/free_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>

#include "harness/device/cpu/cgroup.hpp"
#include "harness/device/cpu/info.hpp"

namespace ridgebench {
namespace {

// Bytes of address space that a limit (ulimit -v) leaves this process; empty without a limit.
std::optional<std::int64_t> addresses_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0;  // the file's first number: pages of address space in use
  file >> pages;
  return static_cast<std::int64_t>(limit.rlim_cur) - pages * sysconf(_SC_PAGESIZE);
}

// Bytes left of the host's memory, or of what a control group or a limit leaves where that is less.
double bytes_left() {
  const std::int64_t available = host_memory().available_bytes;
  const auto in_group = Cgroup::own().memory_left();
  return static_cast<double>(
      std::min({available, in_group.value_or(available), addresses_left().value_or(available)}));
}

}  // namespace

double allocatable_bytes() {
  static const double reserve = 0.1 * bytes_left();
  return std::max(bytes_left() - reserve, 0.0);
}

}  // namespace ridgebench
