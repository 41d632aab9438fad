// Ceilings of the caches, level 1 to 3: n elements, shared out among the threads, are read again
// and again (repeated_read.hpp). On a GPU, whose level 2 all SMs share, a sweep shows where it
// ends.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/ceilings/repeated_read.hpp"

namespace ridgebench {

namespace cache_detail {

// Bytes of each unit's share of the n elements. Half of what the unit has of the level, so that
// nothing else in the cache pushes it out; 0 if that is not clear of the level below. At most 16
// times the level below: a virtual machine is shown shared caches that it does not have to itself.
inline std::int64_t share_bytes(const Machine& machine, int level) {
  const auto available = [&](const Cache& cache) {
    return cache.bytes / std::max(1, std::min(cache.shared_by, machine.units));
  };
  std::int64_t below = 0;
  for (const Cache& cache : machine.caches) {
    if (cache.level < level) below = available(cache);
    if (cache.level != level) continue;
    const std::int64_t half = available(cache) / 2;
    if (below == 0) return half;
    return half >= 2 * below ? std::min(half, 16 * below) : 0;
  }
  return 0;
}

// The first pass brings in what is not there at the speed of memory, some 100 times slower than
// level 1, 30 than level 2 and 4 than level 3. So many passes that this is lost in the rest; of
// level 3 a launch would lose 5 % if neighbours pushed out all that the one before had left.
inline std::int64_t passes(int level) { return level == 1 ? 8192 : level == 2 ? 2048 : 64; }

// Whole multiples of this for each unit.
inline constexpr std::int64_t kUnitElements = 1024;

inline std::vector<Shape> host_shapes(const Machine& machine, int level) {
  const std::int64_t share =
      share_bytes(machine, level) / static_cast<std::int64_t>(sizeof(float)) / kUnitElements;
  if (share == 0) return {};
  return {Shape({{"n", share * kUnitElements * machine.units}, {"passes", passes(level)}})};
}

// `share` of the level as all SMs together see it, and as many passes as take some milliseconds at
// the 32 to 39 bytes per clock that an SM of an H100 gets (te42kyfo/gpu-benches, gpu-l2-cache).
inline Shape gpu_shape(const Machine& machine, double share) {
  constexpr std::int64_t kUnitBytes = std::int64_t{128} << 20U;
  const double bytes = share * static_cast<double>(machine.last_level_cache_bytes());
  const std::int64_t step = kUnitElements * machine.units;
  const auto steps = static_cast<std::int64_t>(bytes / static_cast<double>(step * sizeof(float)));
  const std::int64_t n = std::max<std::int64_t>(steps, 1) * step;
  const std::int64_t passes =
      kUnitBytes * machine.units / (n * static_cast<std::int64_t>(sizeof(float)));
  return Shape({{"n", n}, {"passes", std::max<std::int64_t>(passes, 1)}});
}

// A quarter comes first: level 2 of recent GPUs is two halves, each of which may hold a copy of
// what its SMs read, and drivers report more than what then remains in cache.
inline std::vector<Shape> gpu_shapes(Profile profile, const Machine& machine, int level) {
  if (machine.caches.empty() || machine.caches.back().level != level) return {};
  std::vector<Shape> shapes{gpu_shape(machine, 1.0 / 4)};
  if (!at_least_standard(profile)) return shapes;
  for (const double share : {1.0 / 8, 1.0 / 2, 1.0, 2.0, 4.0}) {
    const Shape shape = gpu_shape(machine, share);
    if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
  }
  return shapes;
}

// Bytes that an SM can load per clock: the width of its path to level 1 (CUDA C++ Best Practices,
// 128 bytes as for shared memory) and to level 2, 64 bytes (Jia et al., "Dissecting the NVIDIA
// Volta GPU Architecture via Microbenchmarking", 2018). Blackwell's path to level 2 is not
// documented.
inline double most_per_clock_level_1(const Machine& machine, FormatPair) {
  return machine.compute_capability >= 80 ? 128 : 0;
}

inline double most_per_clock_level_2(const Machine& machine, FormatPair) {
  const bool known = machine.compute_capability >= 80 && machine.compute_capability <= 90;
  return known ? 64 : 0;
}

inline Operation cache(const std::string& name, int level) {
  Operation op = repeated_read(name, level);
  op.shapes = [=](Profile profile, Pace, const Machine& machine) {
    return machine.compute_capability > 0 ? gpu_shapes(profile, machine, level)
                                          : host_shapes(machine, level);
  };
  if (level == 1) op.ceiling->most_per_clock = most_per_clock_level_1;
  if (level == 2) op.ceiling->most_per_clock = most_per_clock_level_2;
  return op;
}

}  // namespace cache_detail

inline const RegisterOperation cache_l1_read{cache_detail::cache("cache_l1_read", 1)};
inline const RegisterOperation cache_l2_read{cache_detail::cache("cache_l2_read", 2)};
inline const RegisterOperation cache_l3_read{cache_detail::cache("cache_l3_read", 3)};

}  // namespace ridgebench
