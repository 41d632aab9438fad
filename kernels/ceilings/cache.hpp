// Ceilings of the caches, level 1 to 3: the same n elements, shared out among the threads, are read
// `passes` times; the sum of all those reads shows that none was left out. fp32.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/common/registry.hpp"

namespace ridgepoint {

namespace cache_detail {

// Bytes of each unit's share of the n elements. Half of what the unit has of the level, so that
// nothing else in the cache pushes it out; 0 where that is not clear of the level below. At most 16
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

// The first pass brings the data in at the speed of memory, some 100 times slower than level 1, 30
// than level 2 and 4 than level 3; so many passes that it is lost in the rest.
inline std::int64_t passes(int level) { return level == 1 ? 8192 : level == 2 ? 2048 : 256; }

inline std::vector<Shape> shapes(const Machine& machine, int level) {
  constexpr std::int64_t kUnitElements = 1024;  // a share is a multiple of this
  const std::int64_t share =
      share_bytes(machine, level) / static_cast<std::int64_t>(sizeof(float)) / kUnitElements;
  if (share == 0) return {};
  return {Shape({{"n", share * kUnitElements * machine.units}, {"passes", passes(level)}})};
}

inline Operation cache(std::string_view name, int level) {
  const auto reads = [](const Shape& s) {
    return static_cast<double>(s["n"]) * static_cast<double>(s["passes"]);
  };
  Operation op;
  op.name = name;
  op.dimensions = {"n", "passes"};
  op.formats = {Format::fp32};
  op.flops = reads;
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a}, {"sum", 1, f.a, Access::written}};
  };
  op.row_length = [](const Shape&) { return std::int64_t{1}; };
  op.reference = [](const Shape& s, std::int64_t, std::span<const View> in,
                    std::span<Expected> out) {
    double sum = 0;
    double squares = 0;
    for (std::int64_t i = 0; i < s["n"]; ++i) {
      const double x = in[0][i];
      sum += x;
      squares += x * x;
    }
    const auto times = static_cast<double>(s["passes"]);
    out[0] = {times * sum, std::sqrt(times * squares)};
  };
  op.reduction = reads;
  op.shapes = [=](Profile, Pace, const Machine& machine) { return shapes(machine, level); };
  op.ceiling = Ceiling{Resource::cache, level};
  op.traffic = [=](const Shape& s, FormatPair) { return reads(s) * sizeof(float); };
  return op;
}

}  // namespace cache_detail

inline const RegisterOperation cache_l1_read{cache_detail::cache("cache_l1_read", 1)};
inline const RegisterOperation cache_l2_read{cache_detail::cache("cache_l2_read", 2)};
inline const RegisterOperation cache_l3_read{cache_detail::cache("cache_l3_read", 3)};

}  // namespace ridgepoint
