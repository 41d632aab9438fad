#include "harness/device/open_devices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

std::vector<DeviceFamily>& families() {
  static std::vector<DeviceFamily> all;
  return all;
}

std::unique_ptr<Device> open_named(const std::string& selection) {
  const std::size_t colon = std::min(selection.find(':'), selection.size());
  const std::string name = selection.substr(0, colon);
  const std::string text = selection.substr(std::min(colon + 1, selection.size()));
  const bool cuda = name == "cuda";
  if (cuda && (text.empty() || text.size() > 3 ||
               text.find_first_not_of("0123456789") != std::string::npos)) {
    throw UsageError(
        fmt::format("unknown device '{}'; allowed: cuda:N with a whole number N", selection));
  }
  const auto family = std::ranges::find(families(), name, &DeviceFamily::name);
  if (family != families().end()) return family->open(text);
  if (cuda) {
    throw DeviceError(
        fmt::format("device {} is absent: this build has no CUDA; allowed: cpu", selection));
  }
  throw UsageError(fmt::format("unknown device '{}'; allowed: cuda:N, cpu, all", selection));
}

}  // namespace

RegisterDevices::RegisterDevices(const DeviceFamily& family) { families().push_back(family); }

std::vector<std::unique_ptr<Device>> open_devices(const std::string& selection) {
  std::vector<std::unique_ptr<Device>> devices;
  const bool all = selection == "all";
  if (!selection.empty() && !all) {
    devices.push_back(open_named(selection));
    return devices;
  }
  for (const DeviceFamily& family : families()) {
    const int count = family.count == nullptr ? 0 : family.count();
    for (int i = 0; i < count; ++i) devices.push_back(family.open(std::to_string(i)));
  }
  if (all || devices.empty()) devices.push_back(open_named("cpu"));
  return devices;
}

}  // namespace ridgebench
