// Meters of a host: the kernel's counters of the team's threads (perf_event_open), the energy of
// the processor packages (powercap), and processor time that a hypervisor gave to others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/meters.hpp"

namespace ridgebench {

// Joules of all processor packages (Linux, Documentation/power/powercap); root may read them.
std::optional<double> package_energy_j();
// Seconds, over all processors, that a hypervisor ran others (proc(5), /proc/stat, steal).
std::optional<double> stolen_s();

class HostMeters {
 public:
  // Counts from now on, on the OpenMP team of so many threads.
  explicit HostMeters(int threads);
  HostMeters(const HostMeters&) = delete;  // owns descriptors
  HostMeters& operator=(const HostMeters&) = delete;
  ~HostMeters();

  // cycles, instructions and last_level_misses outside the kernel; cpu_s that the threads ran;
  // energy_j of all packages; stolen_s of all processors.
  [[nodiscard]] std::vector<Meter> read() const;
  // Why there are no cycles; empty where there are.
  [[nodiscard]] const std::string& no_cycles() const { return no_cycles_; }

 private:
  struct Counter {
    const char* name;
    std::uint32_t type;
    std::uint64_t event;
    double unit;
    std::vector<int> descriptors;  // one per thread; -1: refused
  };
  [[nodiscard]] static std::optional<double> total(const Counter& counter);

  std::vector<Counter> counters_;
  std::string no_cycles_;
};

}  // namespace ridgebench
