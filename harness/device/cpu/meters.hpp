// Meters of a host: the kernel's counters of the team's threads (perf_event_open), the energy of
// the processor packages (powercap), and the time that a hypervisor took from the processors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/meters.hpp"

namespace ridgebench {

// Joules of all processor packages (Linux, Documentation/power/powercap). Only root may read them.
std::optional<double> package_energy_j();
// Seconds, summed over all processors, that a hypervisor gave to other guests (proc(5), /proc/stat,
// steal).
std::optional<double> stolen_s();

class HostMeters {
 public:
  // Starts to count on the `threads` threads of the OpenMP team.
  explicit HostMeters(int threads);
  HostMeters(const HostMeters&) = delete;  // owns descriptors
  HostMeters& operator=(const HostMeters&) = delete;
  ~HostMeters();

  // cycles, instructions and last_level_misses of user code; cpu_s, the seconds that the threads
  // ran; energy_j of all packages; stolen_s of all processors.
  [[nodiscard]] std::vector<Meter> read() const;
  // Why the kernel counts no cycles; empty where it does.
  [[nodiscard]] const std::string& no_cycles() const { return no_cycles_; }

 private:
  struct Counter {
    const char* name;
    std::uint32_t type;
    std::uint64_t event;
    double unit;
    std::vector<int> descriptors;  // one per thread; -1 where the kernel refused
  };
  [[nodiscard]] static std::optional<double> total(const Counter& counter);

  std::vector<Counter> counters_;
  std::string no_cycles_;
};

}  // namespace ridgebench
