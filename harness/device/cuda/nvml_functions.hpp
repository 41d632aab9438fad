// The functions of NVIDIA's management library as nvml*.cpp call them; nothing else includes this.
#pragma once

#include <dlfcn.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "harness/device/cuda/nvml.hpp"

namespace ridgebench {

namespace nvml {

// Declarations of the NVML API reference; its header comes with some toolkits only.
using Status = int;
inline constexpr Status kSuccess = 0;
inline constexpr Status kInsufficientSize = 7;
inline constexpr unsigned kSmClock = 1;
inline constexpr unsigned kMemoryClock = 2;
inline constexpr unsigned kTextBytes = 96;
inline constexpr unsigned kMemoryTemperature = 82;  // NVML_FI_DEV_MEMORY_TEMP
inline constexpr int kUnsignedInt = 1;              // NVML_VALUE_TYPE_UNSIGNED_INT
inline constexpr unsigned kUnknownPerformanceState = 32;
inline constexpr unsigned kViolatedPower = 0;
inline constexpr unsigned kViolatedHeat = 1;
inline constexpr unsigned kCorrected = 0;
inline constexpr unsigned kUncorrected = 1;
inline constexpr unsigned kSinceTheDriverWasLoaded = 0;
inline constexpr unsigned kMostNvlinks = 18;
inline constexpr double kMega = 1e6;
inline constexpr double kMilli = 1e-3;
inline constexpr double kNano = 1e-9;

// nvmlFieldValue_t
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency_us;
  int type;
  Status status;
  union {
    unsigned number;
    unsigned long long other;  // the largest of the types that we do not ask for
  } value;
};

// nvmlViolationTime_t: microseconds of a clock, and nanoseconds of violation.
struct ViolationTime {
  unsigned long long reference;
  unsigned long long violation;
};

template <class Function>
void load(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace nvml

// Null where the library, an older one, lacks a function.
struct Nvml::Functions {
  nvml::Status (*init)();
  nvml::Status (*shutdown)();
  nvml::Status (*handle)(const char*, void**);
  nvml::Status (*driver)(char*, unsigned);
  nvml::Status (*clock)(void*, unsigned, unsigned*);
  nvml::Status (*max_clock)(void*, unsigned, unsigned*);
  nvml::Status (*power)(void*, unsigned*);
  nvml::Status (*power_limit)(void*, unsigned*);
  nvml::Status (*energy)(void*, unsigned long long*);
  nvml::Status (*temperature)(void*, unsigned, unsigned*);
  nvml::Status (*fields)(void*, int, nvml::FieldValue*);
  nvml::Status (*performance_state)(void*, unsigned*);
  nvml::Status (*clock_events)(void*, unsigned long long*);
  nvml::Status (*processes)(void*, unsigned*, void*);
  nvml::Status (*ecc)(void*, unsigned*, unsigned*);
  nvml::Status (*mig)(void*, unsigned*, unsigned*);
  nvml::Status (*persistence)(void*, unsigned*);
  nvml::Status (*default_power_limit)(void*, unsigned*);
  nvml::Status (*power_range)(void*, unsigned*, unsigned*);
  nvml::Status (*application_clock)(void*, unsigned, unsigned*);
  nvml::Status (*compute_mode)(void*, unsigned*);
  nvml::Status (*pcie_generation)(void*, unsigned*);
  nvml::Status (*most_pcie_generation)(void*, unsigned*);
  nvml::Status (*pcie_lanes)(void*, unsigned*);
  nvml::Status (*most_pcie_lanes)(void*, unsigned*);
  nvml::Status (*vbios)(void*, char*, unsigned);
  nvml::Status (*board_part_number)(void*, char*, unsigned);
  nvml::Status (*inforom)(void*, char*, unsigned);
  nvml::Status (*gsp_firmware)(void*, char*);
  nvml::Status (*violation)(void*, unsigned, nvml::ViolationTime*);
  nvml::Status (*ecc_errors)(void*, unsigned, unsigned, unsigned long long*);
  nvml::Status (*remapped_rows)(void*, unsigned*, unsigned*, unsigned*, unsigned*);
  nvml::Status (*nvlink)(void*, unsigned, unsigned*);

  explicit Functions(void* library) {
    nvml::load(library, "nvmlInit_v2", init);
    nvml::load(library, "nvmlShutdown", shutdown);
    nvml::load(library, "nvmlDeviceGetHandleByUUID", handle);
    nvml::load(library, "nvmlSystemGetDriverVersion", driver);
    nvml::load(library, "nvmlDeviceGetClockInfo", clock);
    nvml::load(library, "nvmlDeviceGetMaxClockInfo", max_clock);
    nvml::load(library, "nvmlDeviceGetPowerUsage", power);
    nvml::load(library, "nvmlDeviceGetEnforcedPowerLimit", power_limit);
    nvml::load(library, "nvmlDeviceGetTotalEnergyConsumption", energy);
    nvml::load(library, "nvmlDeviceGetTemperature", temperature);
    nvml::load(library, "nvmlDeviceGetFieldValues", fields);
    nvml::load(library, "nvmlDeviceGetPerformanceState", performance_state);
    nvml::load(library, "nvmlDeviceGetCurrentClocksEventReasons", clock_events);
    if (clock_events == nullptr) {  // its name before driver 535
      nvml::load(library, "nvmlDeviceGetCurrentClocksThrottleReasons", clock_events);
    }
    nvml::load(library, "nvmlDeviceGetComputeRunningProcesses_v3", processes);
    nvml::load(library, "nvmlDeviceGetEccMode", ecc);
    nvml::load(library, "nvmlDeviceGetMigMode", mig);
    nvml::load(library, "nvmlDeviceGetPersistenceMode", persistence);
    nvml::load(library, "nvmlDeviceGetPowerManagementDefaultLimit", default_power_limit);
    nvml::load(library, "nvmlDeviceGetPowerManagementLimitConstraints", power_range);
    nvml::load(library, "nvmlDeviceGetApplicationsClock", application_clock);
    nvml::load(library, "nvmlDeviceGetComputeMode", compute_mode);
    nvml::load(library, "nvmlDeviceGetCurrPcieLinkGeneration", pcie_generation);
    nvml::load(library, "nvmlDeviceGetMaxPcieLinkGeneration", most_pcie_generation);
    nvml::load(library, "nvmlDeviceGetCurrPcieLinkWidth", pcie_lanes);
    nvml::load(library, "nvmlDeviceGetMaxPcieLinkWidth", most_pcie_lanes);
    nvml::load(library, "nvmlDeviceGetVbiosVersion", vbios);
    nvml::load(library, "nvmlDeviceGetBoardPartNumber", board_part_number);
    nvml::load(library, "nvmlDeviceGetInforomImageVersion", inforom);
    nvml::load(library, "nvmlDeviceGetGspFirmwareVersion", gsp_firmware);
    nvml::load(library, "nvmlDeviceGetViolationStatus", violation);
    nvml::load(library, "nvmlDeviceGetTotalEccErrors", ecc_errors);
    nvml::load(library, "nvmlDeviceGetRemappedRows", remapped_rows);
    nvml::load(library, "nvmlDeviceGetNvLinkState", nvlink);
  }
};

namespace nvml {

// One number by a function that may be missing or may refuse; some take what to read.
template <class Number>
std::optional<Number> read(Status (*function)(void*, Number*), void* device) {
  Number value{};
  if (function == nullptr || function(device, &value) != kSuccess) return std::nullopt;
  return value;
}
inline std::optional<unsigned> read(Status (*function)(void*, unsigned, unsigned*), void* device,
                                    unsigned what) {
  unsigned value = 0;
  if (function == nullptr || function(device, what, &value) != kSuccess) return std::nullopt;
  return value;
}

template <class Number>
std::optional<double> scaled(std::optional<Number> value, double unit) {
  if (!value) return std::nullopt;
  return static_cast<double>(*value) * unit;
}

// Current and pending, or least and most.
using Pair = std::pair<unsigned, unsigned>;
inline std::optional<Pair> read(Status (*function)(void*, unsigned*, unsigned*), void* device) {
  Pair pair;
  if (function == nullptr || function(device, &pair.first, &pair.second) != kSuccess)
    return std::nullopt;
  return pair;
}
// Whether the current mode, or the pending one, is on.
inline std::optional<bool> mode(Status (*function)(void*, unsigned*, unsigned*), void* device,
                                unsigned Pair::* which = &Pair::first) {
  const auto pair = read(function, device);
  return pair ? std::optional((*pair).*which != 0) : std::nullopt;
}

inline std::optional<std::string> read(Status (*function)(void*, char*, unsigned), void* device) {
  std::array<char, kTextBytes> text{};
  if (function == nullptr || function(device, text.data(), kTextBytes) != kSuccess)
    return std::nullopt;
  return text.data();
}

}  // namespace nvml
}  // namespace ridgebench
