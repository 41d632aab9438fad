#include "harness/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace ridgepoint {
namespace {

// Declarations of the NVML API reference; its header comes with some toolkits only.
using Status = int;
constexpr Status kSuccess = 0;
constexpr Status kInsufficientSize = 7;
constexpr unsigned kSmClock = 1;
constexpr unsigned kMemoryClock = 2;
constexpr unsigned kTextBytes = 96;
constexpr double kMega = 1e6;
constexpr double kMilli = 1e-3;

template <class Function>
void load(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

// Null where the library, an older one, lacks a function.
struct Nvml::Functions {
  Status (*init)();
  Status (*shutdown)();
  Status (*handle)(const char*, void**);
  Status (*driver)(char*, unsigned);
  Status (*clock)(void*, unsigned, unsigned*);
  Status (*max_clock)(void*, unsigned, unsigned*);
  Status (*power)(void*, unsigned*);
  Status (*power_limit)(void*, unsigned*);
  Status (*energy)(void*, unsigned long long*);
  Status (*temperature)(void*, unsigned, unsigned*);
  Status (*clock_events)(void*, unsigned long long*);
  Status (*processes)(void*, unsigned*, void*);
  Status (*ecc)(void*, unsigned*, unsigned*);
  Status (*mig)(void*, unsigned*, unsigned*);
  Status (*persistence)(void*, unsigned*);
  Status (*default_power_limit)(void*, unsigned*);
  Status (*power_range)(void*, unsigned*, unsigned*);
  Status (*application_clock)(void*, unsigned, unsigned*);
  Status (*compute_mode)(void*, unsigned*);
  Status (*pcie_generation)(void*, unsigned*);
  Status (*most_pcie_generation)(void*, unsigned*);
  Status (*pcie_lanes)(void*, unsigned*);
  Status (*most_pcie_lanes)(void*, unsigned*);
  Status (*vbios)(void*, char*, unsigned);
  Status (*board_part_number)(void*, char*, unsigned);

  explicit Functions(void* library) {
    load(library, "nvmlInit_v2", init);
    load(library, "nvmlShutdown", shutdown);
    load(library, "nvmlDeviceGetHandleByUUID", handle);
    load(library, "nvmlSystemGetDriverVersion", driver);
    load(library, "nvmlDeviceGetClockInfo", clock);
    load(library, "nvmlDeviceGetMaxClockInfo", max_clock);
    load(library, "nvmlDeviceGetPowerUsage", power);
    load(library, "nvmlDeviceGetEnforcedPowerLimit", power_limit);
    load(library, "nvmlDeviceGetTotalEnergyConsumption", energy);
    load(library, "nvmlDeviceGetTemperature", temperature);
    load(library, "nvmlDeviceGetCurrentClocksEventReasons", clock_events);
    if (clock_events == nullptr) {  // its name before driver 535
      load(library, "nvmlDeviceGetCurrentClocksThrottleReasons", clock_events);
    }
    load(library, "nvmlDeviceGetComputeRunningProcesses_v3", processes);
    load(library, "nvmlDeviceGetEccMode", ecc);
    load(library, "nvmlDeviceGetMigMode", mig);
    load(library, "nvmlDeviceGetPersistenceMode", persistence);
    load(library, "nvmlDeviceGetPowerManagementDefaultLimit", default_power_limit);
    load(library, "nvmlDeviceGetPowerManagementLimitConstraints", power_range);
    load(library, "nvmlDeviceGetApplicationsClock", application_clock);
    load(library, "nvmlDeviceGetComputeMode", compute_mode);
    load(library, "nvmlDeviceGetCurrPcieLinkGeneration", pcie_generation);
    load(library, "nvmlDeviceGetMaxPcieLinkGeneration", most_pcie_generation);
    load(library, "nvmlDeviceGetCurrPcieLinkWidth", pcie_lanes);
    load(library, "nvmlDeviceGetMaxPcieLinkWidth", most_pcie_lanes);
    load(library, "nvmlDeviceGetVbiosVersion", vbios);
    load(library, "nvmlDeviceGetBoardPartNumber", board_part_number);
  }
};

namespace {

// One number by a function that may be missing or may refuse; some take what to read.
template <class Number>
std::optional<Number> read(Status (*function)(void*, Number*), void* device) {
  Number value{};
  if (function == nullptr || function(device, &value) != kSuccess) return std::nullopt;
  return value;
}
std::optional<unsigned> read(Status (*function)(void*, unsigned, unsigned*), void* device,
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
std::optional<Pair> read(Status (*function)(void*, unsigned*, unsigned*), void* device) {
  Pair pair;
  if (function == nullptr || function(device, &pair.first, &pair.second) != kSuccess)
    return std::nullopt;
  return pair;
}
std::optional<bool> current_mode(Status (*function)(void*, unsigned*, unsigned*), void* device) {
  const auto pair = read(function, device);
  return pair ? std::optional(pair->first != 0) : std::nullopt;
}

std::optional<std::string> read(Status (*function)(void*, char*, unsigned), void* device) {
  std::array<char, kTextBytes> text{};
  if (function == nullptr || function(device, text.data(), kTextBytes) != kSuccess)
    return std::nullopt;
  return text.data();
}

}  // namespace

std::unique_ptr<Nvml> Nvml::open(const std::string& uuid, std::string& reason,
                                 const std::string& library) {
  void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    reason = library + " is not installed";
    return nullptr;
  }
  std::shared_ptr<void> owner(opened, [](void* handle) { dlclose(handle); });
  auto functions = std::make_unique<Functions>(opened);
  if (functions->init == nullptr || functions->shutdown == nullptr ||
      functions->handle == nullptr || functions->init() != kSuccess) {
    reason = library + " cannot be initialised";
    return nullptr;
  }
  void* device = nullptr;
  if (functions->handle(uuid.c_str(), &device) != kSuccess) {
    static_cast<void>(functions->shutdown());
    reason = library + " does not know the device";
    return nullptr;
  }
  return std::unique_ptr<Nvml>(new Nvml(std::move(owner), std::move(functions), device));
}

Nvml::Nvml(std::shared_ptr<void> library, std::unique_ptr<Functions> functions, void* device)
    : library_(std::move(library)), functions_(std::move(functions)), device_(device) {}

Nvml::~Nvml() { static_cast<void>(functions_->shutdown()); }

std::optional<double> Nvml::sm_clock_hz() const {
  return scaled(read(functions_->clock, device_, kSmClock), kMega);
}
std::optional<double> Nvml::memory_clock_hz() const {
  return scaled(read(functions_->clock, device_, kMemoryClock), kMega);
}
std::optional<double> Nvml::max_sm_clock_hz() const {
  return scaled(read(functions_->max_clock, device_, kSmClock), kMega);
}
std::optional<double> Nvml::max_memory_clock_hz() const {
  return scaled(read(functions_->max_clock, device_, kMemoryClock), kMega);
}
std::optional<double> Nvml::power_w() const {
  return scaled(read(functions_->power, device_), kMilli);
}
std::optional<double> Nvml::power_limit_w() const {
  return scaled(read(functions_->power_limit, device_), kMilli);
}
std::optional<double> Nvml::energy_j() const {
  return scaled(read(functions_->energy, device_), kMilli);
}
std::optional<double> Nvml::temperature_c() const {
  constexpr unsigned gpu_sensor = 0;
  return scaled(read(functions_->temperature, device_, gpu_sensor), 1);
}
std::optional<std::uint64_t> Nvml::clock_events() const {
  return read(functions_->clock_events, device_);
}
std::optional<unsigned> Nvml::processes() const {
  unsigned count = 0;  // asks for their number alone: too small a list is then no error
  if (functions_->processes == nullptr) return std::nullopt;
  const Status status = functions_->processes(device_, &count, nullptr);
  if (status != kSuccess && status != kInsufficientSize) return std::nullopt;
  return count;
}
std::optional<bool> Nvml::ecc() const { return current_mode(functions_->ecc, device_); }
std::optional<bool> Nvml::mig() const { return current_mode(functions_->mig, device_); }
std::optional<bool> Nvml::persistence() const {
  const auto mode = read(functions_->persistence, device_);
  return mode ? std::optional(*mode != 0) : std::nullopt;
}
std::optional<std::string> Nvml::driver() const {
  std::array<char, kTextBytes> text{};
  if (functions_->driver == nullptr || functions_->driver(text.data(), kTextBytes) != kSuccess) {
    return std::nullopt;
  }
  return text.data();
}

std::optional<double> Nvml::default_power_limit_w() const {
  return scaled(read(functions_->default_power_limit, device_), kMilli);
}
std::optional<double> Nvml::least_power_limit_w() const {
  const auto range = read(functions_->power_range, device_);
  return range ? std::optional(range->first * kMilli) : std::nullopt;
}
std::optional<double> Nvml::most_power_limit_w() const {
  const auto range = read(functions_->power_range, device_);
  return range ? std::optional(range->second * kMilli) : std::nullopt;
}
std::optional<double> Nvml::application_sm_clock_hz() const {
  return scaled(read(functions_->application_clock, device_, kSmClock), kMega);
}
std::optional<unsigned> Nvml::compute_mode() const {
  return read(functions_->compute_mode, device_);
}
std::optional<unsigned> Nvml::pcie_generation() const {
  return read(functions_->pcie_generation, device_);
}
std::optional<unsigned> Nvml::most_pcie_generation() const {
  return read(functions_->most_pcie_generation, device_);
}
std::optional<unsigned> Nvml::pcie_lanes() const { return read(functions_->pcie_lanes, device_); }
std::optional<unsigned> Nvml::most_pcie_lanes() const {
  return read(functions_->most_pcie_lanes, device_);
}
std::optional<std::string> Nvml::vbios() const { return read(functions_->vbios, device_); }
std::optional<std::string> Nvml::board_part_number() const {
  return read(functions_->board_part_number, device_);
}

}  // namespace ridgepoint
