#include "harness/device/cuda/nvml.hpp"

#include <array>
#include <utility>

#include "harness/device/cuda/nvml_calls.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;
using nvml_detail::add;
using nvml_detail::kInsufficientSize;
using nvml_detail::kSuccess;
using nvml_detail::kTextBytes;
using nvml_detail::Text;

constexpr double kMega = 1e6;
constexpr double kMilli = 1e-3;
constexpr double kNano = 1e-9;
// nvmlClockType_t
constexpr unsigned kSmClock = 1;
constexpr unsigned kMemoryClock = 2;

// nvmlFieldValue_t
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency_us;
  int type;
  int status;
  union {
    unsigned number;
    unsigned long long largest;  // the largest of the other types
  } value;
};

// nvmlEventData_t
struct EventData {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

// nvmlViolationTime_t
struct ViolationTime {
  unsigned long long reference_us, violation_ns;
};

}  // namespace

std::unique_ptr<Nvml> Nvml::open(const std::string& uuid, std::string& reason,
                                 const std::string& library) {
  const SharedLibrary loaded(library);
  if (!loaded.loaded()) {
    reason = library + " is not installed";
    return nullptr;
  }
  std::unique_ptr<Nvml> nvml(new Nvml(loaded, nullptr));
  if (nvml->call("nvmlInit_v2") != kSuccess) {
    reason = library + " cannot be initialised";
    return nullptr;
  }
  if (nvml->call("nvmlDeviceGetHandleByUUID", uuid.c_str(), &nvml->device_) != kSuccess) {
    reason = library + " does not know the device";
    return nullptr;
  }
  return nvml;
}

Nvml::~Nvml() {
  if (events_ != nullptr) static_cast<void>(call("nvmlEventSetFree", events_));
  static_cast<void>(call("nvmlShutdown"));
}

std::optional<double> Nvml::sm_clock_hz() const {
  return scaled(kMega, "nvmlDeviceGetClockInfo", kSmClock);
}
std::optional<double> Nvml::memory_clock_hz() const {
  return scaled(kMega, "nvmlDeviceGetClockInfo", kMemoryClock);
}
std::optional<double> Nvml::power_w() const {
  const auto instant = field(186);  // NVML_FI_DEV_POWER_INSTANT
  if (instant) return *instant * kMilli;
  return scaled(kMilli, "nvmlDeviceGetPowerUsage");
}
std::optional<double> Nvml::energy_j() const {
  return scaled<unsigned long long>(kMilli, "nvmlDeviceGetTotalEnergyConsumption");
}
std::optional<double> Nvml::temperature_c() const {
  return scaled(1, "nvmlDeviceGetTemperature", 0U);  // nvmlTemperatureSensors_t: GPU
}
std::optional<unsigned> Nvml::field(unsigned field) const {
  constexpr int kUnsignedInt = 1;  // NVML_VALUE_TYPE_UNSIGNED_INT
  FieldValue value{};
  value.field = field;
  const bool read = call("nvmlDeviceGetFieldValues", device_, 1, &value) == kSuccess;
  if (!read || value.status != kSuccess || value.type != kUnsignedInt) return std::nullopt;
  return value.value.number;
}
// NVML_FI_DEV_MEMORY_TEMP
std::optional<double> Nvml::memory_temperature_c() const { return field(82); }
std::optional<unsigned> Nvml::performance_state() const {
  constexpr unsigned kUnknown = 32;
  const auto state = read("nvmlDeviceGetPerformanceState");
  return state == kUnknown ? std::nullopt : state;
}
std::optional<std::uint64_t> Nvml::clock_events() const {
  const auto events = read<unsigned long long>("nvmlDeviceGetCurrentClocksEventReasons");
  if (events) return events;
  return read<unsigned long long>(
      "nvmlDeviceGetCurrentClocksThrottleReasons");  // before driver 535
}
std::optional<unsigned> Nvml::processes() const {
  unsigned count = 0;  // a list of length 0 is too small, but the library then writes their number
  const int status =
      call("nvmlDeviceGetComputeRunningProcesses_v3", device_, &count, static_cast<void*>(nullptr));
  if (status != kSuccess && status != kInsufficientSize) return std::nullopt;
  return count;
}

// nvmlPerfPolicyType_t: 0 is power, 1 is heat.
std::optional<double> Nvml::violation_s(unsigned limit) const {
  const auto time = read<ViolationTime>("nvmlDeviceGetViolationStatus", limit);
  if (!time) return std::nullopt;
  return static_cast<double>(time->violation_ns) * kNano;
}
std::optional<double> Nvml::power_capped_s() const { return violation_s(0); }
std::optional<double> Nvml::heat_capped_s() const { return violation_s(1); }
// nvmlMemoryErrorType_t: 0 is corrected, 1 is uncorrected.
std::optional<double> Nvml::ecc_errors(unsigned kind) const {
  constexpr unsigned kVolatile = 0;  // nvmlEccCounterType_t: since the driver was loaded
  return scaled<unsigned long long>(1, "nvmlDeviceGetTotalEccErrors", kind, kVolatile);
}
std::optional<double> Nvml::corrected_errors() const { return ecc_errors(0); }
std::optional<double> Nvml::uncorrected_errors() const { return ecc_errors(1); }

ordered_json Nvml::inventory() const {
  ordered_json json = ordered_json::object();
  Text buffer{};
  if (call("nvmlSystemGetDriverVersion", buffer.data(), kTextBytes) == kSuccess) {
    json["driver"] = buffer.data();
  }
  add(json, "power_limit_w", scaled(kMilli, "nvmlDeviceGetEnforcedPowerLimit"));
  if (const auto ecc = pair("nvmlDeviceGetEccMode")) {
    json["ecc"] = ecc->first != 0;
    json["pending_ecc"] = ecc->second != 0;  // in force after the next reset
  }
  if (const auto mig = pair("nvmlDeviceGetMigMode")) json["mig"] = mig->first != 0;
  if (const auto mode = read("nvmlDeviceGetPersistenceMode")) json["persistence"] = *mode != 0;
  add(json, "compute_mode", read("nvmlDeviceGetComputeMode"));
  add(json, "vbios", text("nvmlDeviceGetVbiosVersion"));
  add(json, "board_part_number", text("nvmlDeviceGetBoardPartNumber"));
  add(json, "inforom", text("nvmlDeviceGetInforomImageVersion"));
  // The function writes at most 64 bytes and takes no length.
  if (call("nvmlDeviceGetGspFirmwareVersion", device_, buffer.data()) == kSuccess) {
    json["gsp_firmware"] = buffer.data();
  }
  add_limits(json);
  add_health(json);
  return json;
}

void Nvml::add_limits(ordered_json& json) const {
  ordered_json limits = ordered_json::object();
  add(limits, "default", scaled(kMilli, "nvmlDeviceGetPowerManagementDefaultLimit"));
  if (const auto range = pair("nvmlDeviceGetPowerManagementLimitConstraints")) {
    limits["min"] = range->first * kMilli;
    limits["max"] = range->second * kMilli;
  }
  if (!limits.empty()) json["power_limits_w"] = limits;
  ordered_json pcie = ordered_json::object();  // an idle link may run slower than it could
  add(pcie, "generation", read("nvmlDeviceGetCurrPcieLinkGeneration"));
  add(pcie, "max_generation", read("nvmlDeviceGetMaxPcieLinkGeneration"));
  add(pcie, "lanes", read("nvmlDeviceGetCurrPcieLinkWidth"));
  add(pcie, "max_lanes", read("nvmlDeviceGetMaxPcieLinkWidth"));
  if (!pcie.empty()) json["pcie"] = pcie;
  ordered_json clocks = ordered_json::object();
  add(clocks, "max_sm_hz", scaled(kMega, "nvmlDeviceGetMaxClockInfo", kSmClock));
  // The clock that an administrator set; otherwise the highest clock.
  add(clocks, "application_sm_hz", scaled(kMega, "nvmlDeviceGetApplicationsClock", kSmClock));
  add(clocks, "max_memory_hz", scaled(kMega, "nvmlDeviceGetMaxClockInfo", kMemoryClock));
  if (!clocks.empty()) json["clocks"] = clocks;
}

void Nvml::add_health(ordered_json& json) const {
  std::optional<unsigned> active;
  std::optional<unsigned> present;
  for (unsigned link = 0; link < nvml_detail::kMostNvlinks; ++link) {
    const auto state = read("nvmlDeviceGetNvLinkState", link);
    if (!state) continue;
    present = present.value_or(0) + 1;
    active = active.value_or(0) + (*state != 0 ? 1 : 0);
  }
  add(json, "nvlinks", active);
  add(json, "nvlinks_present", present);
  if (ordered_json rows = remapped_rows(); !rows.is_null()) json["remapped_rows"] = std::move(rows);
}

ordered_json Nvml::remapped_rows() const {
  std::array<unsigned, 4> rows{};
  auto& [corrected, uncorrected, pending, failed] = rows;
  if (call("nvmlDeviceGetRemappedRows", device_, &corrected, &uncorrected, &pending, &failed) !=
      kSuccess) {
    return nullptr;
  }
  return {{"corrected", corrected},
          {"uncorrected", uncorrected},
          {"pending", pending != 0},
          {"failed", failed != 0}};
}

std::optional<unsigned> Nvml::xids() const {
  constexpr unsigned long long kXidCriticalError = 8;  // nvmlEventTypeXidCriticalError
  if (events_ == nullptr) {
    void* events = nullptr;
    if (call("nvmlEventSetCreate", &events) != kSuccess) return std::nullopt;
    if (call("nvmlDeviceRegisterEvents", device_, kXidCriticalError, events) != kSuccess) {
      static_cast<void>(call("nvmlEventSetFree", events));
      return std::nullopt;
    }
    events_ = events;
  }
  EventData event{};
  while (call("nvmlEventSetWait_v2", events_, &event, 0U) == kSuccess) ++xids_;
  return xids_;
}

std::vector<std::string> names_of_clock_events(std::uint64_t bits) {
  constexpr std::array kNames{"gpu_idle",
                              "applications_clocks_setting",
                              "sw_power_cap",
                              "hw_slowdown",
                              "sync_boost",
                              "sw_thermal_slowdown",
                              "hw_thermal_slowdown",
                              "hw_power_brake_slowdown",
                              "display_clock_setting"};  // bit 0 to bit 8
  std::vector<std::string> names;
  for (std::size_t bit = 0; bit < kNames.size(); ++bit) {
    if ((bits >> bit & 1U) != 0) names.emplace_back(kNames[bit]);
  }
  return names;
}

}  // namespace ridgebench
