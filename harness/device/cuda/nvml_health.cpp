// What NVIDIA's management library tells of a device's health: how long limits held it back, and
// what its memory went through.
#include "harness/device/cuda/nvml.hpp"
#include "harness/device/cuda/nvml_functions.hpp"

namespace ridgebench {

namespace {

std::optional<double> violation_s(nvml::Status (*function)(void*, unsigned, nvml::ViolationTime*),
                                  void* device, unsigned limit) {
  nvml::ViolationTime time{};
  if (function == nullptr || function(device, limit, &time) != nvml::kSuccess) return std::nullopt;
  return static_cast<double>(time.violation) * nvml::kNano;
}

std::optional<double> errors(nvml::Status (*function)(void*, unsigned, unsigned,
                                                      unsigned long long*),
                             void* device, unsigned kind) {
  unsigned long long count = 0;
  if (function == nullptr ||
      function(device, kind, nvml::kSinceTheDriverWasLoaded, &count) != nvml::kSuccess)
    return std::nullopt;
  return static_cast<double>(count);
}

}  // namespace

std::optional<double> Nvml::power_capped_s() const {
  return violation_s(functions_->violation, device_, nvml::kViolatedPower);
}
std::optional<double> Nvml::heat_capped_s() const {
  return violation_s(functions_->violation, device_, nvml::kViolatedHeat);
}
std::optional<double> Nvml::corrected_errors() const {
  return errors(functions_->ecc_errors, device_, nvml::kCorrected);
}
std::optional<double> Nvml::uncorrected_errors() const {
  return errors(functions_->ecc_errors, device_, nvml::kUncorrected);
}
std::optional<RemappedRows> Nvml::remapped_rows() const {
  RemappedRows rows{};
  unsigned pending = 0;
  unsigned failed = 0;
  if (functions_->remapped_rows == nullptr ||
      functions_->remapped_rows(device_, &rows.corrected, &rows.uncorrected, &pending, &failed) !=
          nvml::kSuccess) {
    return std::nullopt;
  }
  rows.pending = pending != 0;
  rows.failed = failed != 0;
  return rows;
}
std::optional<unsigned> Nvml::nvlinks() const {
  std::optional<unsigned> active;
  for (unsigned link = 0; link < nvml::kMostNvlinks; ++link) {
    const auto state = nvml::read(functions_->nvlink, device_, link);
    if (state) active = active.value_or(0) + (*state != 0 ? 1 : 0);
  }
  return active;
}

}  // namespace ridgebench
