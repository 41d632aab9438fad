// Latency of memory: one thread follows pointers, each of which holds the address of the next, so
// that no access starts before the one ahead of it has ended. A launch makes `accesses` of them and
// continues where the launch before it stopped. The output is how far the thread came: the number
// of the last node less that of the first, modulo the nodes.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/registry.hpp"
#include "kernels/latency/chain.hpp"

namespace ridgebench {

namespace pointer_chase_detail {

// Primes, so that neither all accesses nor half of them end where they began. The first ones take
// tens of milliseconds in a cache of level 1, which a GPU empties before each launch, and make 512
// rounds of it. The others take 5 to 30 ms at the 150 to 900 ns of level 2 and beyond.
inline constexpr std::int64_t kLevel1Accesses = 1048573;
inline constexpr std::int64_t kAccesses = 32749;

inline constexpr std::int64_t kKiB = 1 << 10;
inline constexpr std::int64_t kMiB = 1 << 20;
// The largest cache of level 1 of a GPU (NVIDIA Hopper Tuning Guide: 256 KB with shared memory).
inline constexpr std::int64_t kMostLevel1Bytes = 256 * kKiB;
inline constexpr std::int64_t kLargePage = 2 * kMiB;  // of a GPU's memory and of x86's huge pages

// An output of whole numbers has no tolerance.
inline Operation chase(const std::string& name, std::vector<std::string> dimensions,
                       double pointer_bytes) {
  Operation op;
  op.name = name;
  op.dimensions = std::move(dimensions);
  op.formats = {Format::fp32};  // of a row without one
  op.flops = [](const Shape&) { return 0.0; };
  op.operands = [](const Shape&, FormatPair) -> std::vector<Operand> {
    return {{"distance", 1, Format::int32, Access::written}};
  };
  op.row_length = [](const Shape&) { return std::int64_t{1}; };
  op.reference = [](const Shape& s, std::int64_t, std::span<const View>, std::span<Expected> out) {
    out[0] = {static_cast<double>(s["accesses"] % s["lines"]), 0};
  };
  op.reduction = [](const Shape&) { return 1.0; };
  op.ceiling = Ceiling{Resource::latency};
  op.traffic = [=](const Shape& s, FormatPair) {
    return static_cast<double>(s["accesses"]) * pointer_bytes;
  };
  return op;
}

inline Shape chase_through(std::int64_t bytes, std::int64_t stride_bytes = kChaseLineBytes) {
  return Shape({{"lines", bytes / stride_bytes},
                {"stride", stride_bytes / kChaseLineBytes},
                {"accesses", bytes <= kMostLevel1Bytes ? kLevel1Accesses : kAccesses}});
}

// All powers of two from 4 KiB on. Beyond the caches, one line of each large page shows how many
// pages the buffers of address translation (TLB) reach: the lines themselves stay in a cache.
inline std::vector<Shape> full_sweep(std::int64_t most) {
  std::vector<Shape> shapes;
  for (std::int64_t bytes = 4 * kKiB; bytes <= most; bytes *= 2) {
    shapes.push_back(chase_through(bytes));
  }
  for (std::int64_t bytes = 32 * kLargePage; bytes <= 4 * most; bytes *= 2) {
    shapes.push_back(chase_through(bytes, kLargePage));
  }
  return shapes;
}

// First level 2, which has 40 to 126 MiB on recent GPUs, and main memory. A chain takes an eighth
// of the memory at most, one over large pages half of it.
inline std::vector<Shape> sweep(Profile profile, Pace, const Machine& machine) {
  const bool gpu = machine.compute_capability > 0;
  const std::int64_t most = std::min(gpu ? 8192 * kMiB : 512 * kMiB, machine.memory_bytes / 8);
  if (profile == Profile::lecture || (profile == Profile::quick && !gpu)) return {};
  if (profile == Profile::full) return full_sweep(most);
  std::vector<std::int64_t> sizes{8 * kMiB, gpu ? 1024 * kMiB : 512 * kMiB};
  if (profile == Profile::standard) sizes.insert(sizes.end(), {16 * kKiB, 128 * kKiB, 32 * kMiB});
  if (profile == Profile::standard && gpu) sizes.push_back(8192 * kMiB);
  std::vector<Shape> shapes;
  for (const std::int64_t bytes : sizes) {
    if (bytes <= most) shapes.push_back(chase_through(bytes));
  }
  return shapes;
}

inline Operation memory() {
  Operation op =
      chase("pointer_chase", {"lines", "stride", "accesses"}, sizeof(decltype(ChaseNode::next)));
  op.shapes = sweep;
  return op;
}

// Hosts have no shared memory. A launch links the nodes before the chase. Bytes are those of an
// address in shared memory; pointers to another block's are twice as long.
inline Operation shared() {
  Operation op = chase("pointer_chase_shared", {"lines", "accesses"}, sizeof(std::uint32_t));
  op.shapes = [](Profile profile, Pace, const Machine& machine) -> std::vector<Shape> {
    if (machine.compute_capability == 0 || !at_least_standard(profile)) return {};
    return {Shape({{"lines", 128}, {"accesses", kLevel1Accesses}})};
  };
  return op;
}

}  // namespace pointer_chase_detail

// Lines of shared memory that every block may have, 32 KiB.
inline constexpr std::int64_t kSharedChaseLines = 256;

// For Technique::supports: why there can be no such chain.
inline std::optional<std::string> chase_limit(const Shape& shape) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (shape["lines"] > most) return "a chain would have more than 2^31 - 1 nodes";
  if (shape["accesses"] > most) return "a launch would make more than 2^31 - 1 accesses";
  return std::nullopt;
}
inline std::optional<std::string> shared_chase_limit(const Shape& shape) {
  if (shape["lines"] > kSharedChaseLines) return "a block holds up to 256 lines of 128 bytes";
  return chase_limit(shape);
}

inline const RegisterOperation pointer_chase{pointer_chase_detail::memory()};
inline const RegisterOperation pointer_chase_shared{pointer_chase_detail::shared()};

}  // namespace ridgebench
