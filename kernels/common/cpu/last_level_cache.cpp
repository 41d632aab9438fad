#include "kernels/common/cpu/last_level_cache.hpp"

#include <fmt/format.h>

#include <fstream>

#include "kernels/common/machine.hpp"

namespace ridgebench::cpu {
namespace {

// Linux lists a processor's caches from the first level on, each with a size in KiB ("32768K"). Not
// sysconf: the C library gives an AMD socket's whole level 3 for the part that a core can reach.
std::int64_t ask_system() {
  std::int64_t bytes = Machine{}.last_level_cache_bytes();
  for (int index = 0;; ++index) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    std::int64_t kibibytes = 0;
    if (!(file >> kibibytes)) return bytes;
    bytes = kibibytes << 10U;
  }
}

}  // namespace

std::int64_t last_level_cache_bytes() {
  static const std::int64_t bytes = ask_system();
  return bytes;
}

}  // namespace ridgebench::cpu
