// Facts about a device for its sweeps and techniques.
#pragma once

#include <cstdint>
#include <vector>

namespace ridgebench {

// Hosts report hundreds of MB of cache that they share with neighbours: more traffic than this is
// not spent there on emptying caches.
inline constexpr std::int64_t kMostEvictingBytes = std::int64_t{1} << 30U;

struct Cache {
  int level;
  std::int64_t bytes;  // of one instance
  int shared_by;       // execution units (threads, SMs) that share one instance
};

struct Machine {
  int units = 1;                  // threads used on a host, SMs on a GPU
  int compute_capability = 0;     // 90 for 9.0; 0 on a host
  std::vector<Cache> caches;      // data caches, level 1 first
  int sve_bytes = 0;              // of an SVE register; 0 without SVE, as on a GPU
  std::int64_t memory_bytes = 0;  // of the device
  std::vector<int> peers = {};    // numbers N of the other GPUs cuda:N that the process sees
  // Rough rate of a good matmul, FLOP/s. It sizes sweeps and judges nothing.
  double flops_per_s_hint = 1e11;
  // Traffic in fp32 of a launch so long that its start and its end do not show; 0: as the caches
  // ask.
  std::int64_t long_launch_bytes = 0;

  // Bytes of the last-level cache that the units can reach together; 32 MiB where unknown.
  [[nodiscard]] std::int64_t last_level_cache_bytes() const {
    constexpr std::int64_t unknown = std::int64_t{32} << 20U;
    if (caches.empty()) return unknown;
    const Cache& last = caches.back();
    const int instances = (units + last.shared_by - 1) / last.shared_by;
    return last.bytes * instances;
  }
  // Traffic after which the caches hold nothing of what came before: three times the last level.
  [[nodiscard]] std::int64_t evicting_bytes() const { return 3 * last_level_cache_bytes(); }
};

}  // namespace ridgebench
