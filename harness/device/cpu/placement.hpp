// Where a hypervisor runs the processors of a host: it may move them at any time, and the guest is
// not told. Seen in a virtual machine of two threads on an AMD EPYC: on one die or on two, each
// with its own cache and its own way to memory, which moved 1.5 to 2 times as many bytes per second
// and took a tenth longer for a product; or both on one core, at half its arithmetic. Results of
// different placements are not to be compared. What tells them apart is how fast threads hand over
// a cache line.
#pragma once

#include <cstdint>

namespace ridgebench {

// Seconds in which one thread of an OpenMP team hands a cache line to the next: a token goes around
// all of them, and the median of its laps counts. 0 for a single thread.
double core_to_core_s(int threads);

// Faster than the first: two threads of one core; slower than the second: different dies or
// sockets. Measured above: 28 to 41, 45 to 75 and 220 to 270 ns. Within a last-level cache others
// are as fast: Chips and Cheese, "Core to Core Latency Data on Large Systems", 2023.
inline constexpr double kOneCore_s = 42e-9;
inline constexpr double kOneCache_s = 100e-9;

enum class Where : std::uint8_t { one_core, in_place, apart };

struct Placement {
  double core_to_core_s;
  bool own_cores = true;  // the guest is told that no two threads share a core

  [[nodiscard]] Where where() const {
    if (core_to_core_s > kOneCache_s) return Where::apart;
    return own_cores && core_to_core_s < kOneCore_s ? Where::one_core : Where::in_place;
  }
};

}  // namespace ridgebench
