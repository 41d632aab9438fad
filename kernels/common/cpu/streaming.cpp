#include "kernels/common/cpu/streaming.hpp"

#include <fmt/format.h>

#include <fstream>

#include "kernels/common/machine.hpp"

namespace ridgebench::cpu {
namespace {

// Linux lists a processor's caches from level 1, each with a size in KiB ("32768K"). Not sysconf:
// the C library reports the whole level 3 of an AMD socket, of which a core can reach a part.
std::int64_t read_last_level_cache_bytes() {
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
  static const std::int64_t bytes = read_last_level_cache_bytes();
  return bytes;
}

}  // namespace ridgebench::cpu
