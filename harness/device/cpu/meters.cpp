#include "harness/device/cpu/meters.hpp"

#include <linux/perf_event.h>
#include <omp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/device/cpu/info.hpp"

namespace ridgebench {
namespace {

// Opens a counter of the calling thread; -1, with errno, where the kernel refuses.
int open_counter(std::uint32_t type, std::uint64_t event) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = event;
  attributes.exclude_kernel = 1;  // an ordinary user may not count the kernel
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  constexpr int this_thread = 0;
  constexpr int any_processor = -1;
  constexpr int no_group = -1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, this_thread, any_processor,
                                  no_group, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

std::optional<double> package_energy_j() {
  constexpr double micro = 1e-6;
  std::optional<double> joules;
  std::error_code ignored;
  for (const auto& zone : std::filesystem::directory_iterator("/sys/class/powercap", ignored)) {
    if (!first_line(zone.path() / "name").starts_with("package-")) continue;
    const std::string text = first_line(zone.path() / "energy_uj");
    if (text.empty()) return std::nullopt;
    joules = joules.value_or(0) + micro * std::strtod(text.c_str(), nullptr);
  }
  return joules;
}

std::optional<double> stolen_s() {
  std::ifstream file("/proc/stat");
  std::string label;
  std::array<double, 8> ticks{};  // user nice system idle iowait irq softirq steal
  file >> label;
  for (double& count : ticks) file >> count;
  if (!file) return std::nullopt;
  return ticks.back() / static_cast<double>(sysconf(_SC_CLK_TCK));
}

HostMeters::HostMeters(int threads)
    : counters_{{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1, {}},
                {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1, {}},
                {"last_level_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 1, {}},
                {"cpu_s", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1e-9, {}}} {
  for (Counter& counter : counters_) counter.descriptors.resize(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    for (Counter& counter : counters_) {
      counter.descriptors[thread] = open_counter(counter.type, counter.event);
      if (thread == 0 && &counter == &counters_.front() && counter.descriptors[0] < 0) {
        no_cycles_ = std::string("perf_event_open: ") + std::strerror(errno);
      }
    }
  }
}

HostMeters::~HostMeters() {
  for (const Counter& counter : counters_) {
    for (const int descriptor : counter.descriptors) {
      if (descriptor >= 0) close(descriptor);
    }
  }
}

// Scaled by enabled / running time, because the kernel alternates events where the processor has
// too few counters.
std::optional<double> HostMeters::total(const Counter& counter) {
  double sum = 0;
  for (const int descriptor : counter.descriptors) {
    struct {
      std::uint64_t value, enabled, running;
    } reading{};
    if (descriptor < 0 || ::read(descriptor, &reading, sizeof reading) != sizeof reading ||
        reading.running == 0) {
      return std::nullopt;
    }
    sum += static_cast<double>(reading.value) * static_cast<double>(reading.enabled) /
           static_cast<double>(reading.running);
  }
  return sum * counter.unit;
}

std::vector<Meter> HostMeters::read() const {
  std::vector<Meter> meters;
  meters.reserve(counters_.size() + 2);
  for (const Counter& counter : counters_) meters.push_back({counter.name, total(counter)});
  meters.push_back({kEnergyMeter, package_energy_j()});
  meters.push_back({"stolen_s", stolen_s()});
  return meters;
}

}  // namespace ridgebench
