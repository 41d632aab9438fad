#include <array>

#include "harness/device/cuda/nvml.hpp"

namespace ridgebench {
namespace {

constexpr std::array kClockEvents{
    ClockEvent{0x1, "gpu_idle"},
    ClockEvent{0x2, "applications_clocks_setting"},
    ClockEvent{0x4, "sw_power_cap"},
    ClockEvent{0x8, "hw_slowdown"},
    ClockEvent{0x10, "sync_boost"},
    ClockEvent{0x20, "sw_thermal_slowdown"},
    ClockEvent{0x40, "hw_thermal_slowdown"},
    ClockEvent{0x80, "hw_power_brake_slowdown"},
    ClockEvent{0x100, "display_clock_setting"},
};

}  // namespace

std::vector<std::string> names_of_clock_events(std::uint64_t bits) {
  std::vector<std::string> names;
  for (const ClockEvent& event : kClockEvents) {
    if ((bits & event.bit) != 0) names.emplace_back(event.name);
  }
  return names;
}

}  // namespace ridgebench
