#include "harness/device/cuda/nvml.hpp"

#include <dlfcn.h>

#include "harness/device/cuda/nvml_functions.hpp"

namespace ridgebench {

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
      functions->handle == nullptr || functions->init() != nvml::kSuccess) {
    reason = library + " cannot be initialised";
    return nullptr;
  }
  void* device = nullptr;
  if (functions->handle(uuid.c_str(), &device) != nvml::kSuccess) {
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
  return nvml::scaled(nvml::read(functions_->clock, device_, nvml::kSmClock), nvml::kMega);
}
std::optional<double> Nvml::memory_clock_hz() const {
  return nvml::scaled(nvml::read(functions_->clock, device_, nvml::kMemoryClock), nvml::kMega);
}
std::optional<double> Nvml::max_sm_clock_hz() const {
  return nvml::scaled(nvml::read(functions_->max_clock, device_, nvml::kSmClock), nvml::kMega);
}
std::optional<double> Nvml::max_memory_clock_hz() const {
  return nvml::scaled(nvml::read(functions_->max_clock, device_, nvml::kMemoryClock), nvml::kMega);
}
std::optional<double> Nvml::power_w() const {
  return nvml::scaled(nvml::read(functions_->power, device_), nvml::kMilli);
}
std::optional<double> Nvml::power_limit_w() const {
  return nvml::scaled(nvml::read(functions_->power_limit, device_), nvml::kMilli);
}
std::optional<double> Nvml::energy_j() const {
  return nvml::scaled(nvml::read(functions_->energy, device_), nvml::kMilli);
}
std::optional<double> Nvml::temperature_c() const {
  constexpr unsigned gpu_sensor = 0;
  return nvml::scaled(nvml::read(functions_->temperature, device_, gpu_sensor), 1);
}
std::optional<double> Nvml::memory_temperature_c() const {
  nvml::FieldValue field{};
  field.field = nvml::kMemoryTemperature;
  if (functions_->fields == nullptr || functions_->fields(device_, 1, &field) != nvml::kSuccess ||
      field.status != nvml::kSuccess || field.type != nvml::kUnsignedInt) {
    return std::nullopt;
  }
  return field.value.number;
}
std::optional<unsigned> Nvml::performance_state() const {
  const auto state = nvml::read(functions_->performance_state, device_);
  return state == nvml::kUnknownPerformanceState ? std::nullopt : state;
}
std::optional<std::uint64_t> Nvml::clock_events() const {
  return nvml::read(functions_->clock_events, device_);
}
std::optional<unsigned> Nvml::processes() const {
  unsigned count = 0;  // asks for their number alone: too small a list is then no error
  if (functions_->processes == nullptr) return std::nullopt;
  const nvml::Status status = functions_->processes(device_, &count, nullptr);
  if (status != nvml::kSuccess && status != nvml::kInsufficientSize) return std::nullopt;
  return count;
}
std::optional<bool> Nvml::ecc() const { return nvml::mode(functions_->ecc, device_); }
std::optional<bool> Nvml::pending_ecc() const {
  return nvml::mode(functions_->ecc, device_, &nvml::Pair::second);
}
std::optional<bool> Nvml::mig() const { return nvml::mode(functions_->mig, device_); }
std::optional<bool> Nvml::persistence() const {
  const auto mode = nvml::read(functions_->persistence, device_);
  return mode ? std::optional(*mode != 0) : std::nullopt;
}
std::optional<std::string> Nvml::driver() const {
  std::array<char, nvml::kTextBytes> text{};
  if (functions_->driver == nullptr ||
      functions_->driver(text.data(), nvml::kTextBytes) != nvml::kSuccess) {
    return std::nullopt;
  }
  return text.data();
}

std::optional<double> Nvml::default_power_limit_w() const {
  return nvml::scaled(nvml::read(functions_->default_power_limit, device_), nvml::kMilli);
}
std::optional<double> Nvml::least_power_limit_w() const {
  const auto range = nvml::read(functions_->power_range, device_);
  return range ? std::optional(range->first * nvml::kMilli) : std::nullopt;
}
std::optional<double> Nvml::most_power_limit_w() const {
  const auto range = nvml::read(functions_->power_range, device_);
  return range ? std::optional(range->second * nvml::kMilli) : std::nullopt;
}
std::optional<double> Nvml::application_sm_clock_hz() const {
  return nvml::scaled(nvml::read(functions_->application_clock, device_, nvml::kSmClock),
                      nvml::kMega);
}
std::optional<unsigned> Nvml::compute_mode() const {
  return nvml::read(functions_->compute_mode, device_);
}
std::optional<unsigned> Nvml::pcie_generation() const {
  return nvml::read(functions_->pcie_generation, device_);
}
std::optional<unsigned> Nvml::most_pcie_generation() const {
  return nvml::read(functions_->most_pcie_generation, device_);
}
std::optional<unsigned> Nvml::pcie_lanes() const {
  return nvml::read(functions_->pcie_lanes, device_);
}
std::optional<unsigned> Nvml::most_pcie_lanes() const {
  return nvml::read(functions_->most_pcie_lanes, device_);
}
std::optional<std::string> Nvml::vbios() const { return nvml::read(functions_->vbios, device_); }
std::optional<std::string> Nvml::board_part_number() const {
  return nvml::read(functions_->board_part_number, device_);
}
std::optional<std::string> Nvml::inforom() const {
  return nvml::read(functions_->inforom, device_);
}
std::optional<std::string> Nvml::gsp_firmware() const {
  std::array<char, nvml::kTextBytes> text{};  // the function asks for 64 bytes
  if (functions_->gsp_firmware == nullptr ||
      functions_->gsp_firmware(device_, text.data()) != nvml::kSuccess) {
    return std::nullopt;
  }
  return text.data();
}

}  // namespace ridgebench
