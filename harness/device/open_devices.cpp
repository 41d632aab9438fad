#include <fmt/format.h>

#include "harness/device/cpu/device.hpp"
#include "harness/device/cuda/device.hpp"
#include "harness/device/device.hpp"
#include "harness/device/simulated_device.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

std::vector<std::unique_ptr<Device>> open_devices(const std::string& selection) {
  std::vector<std::unique_ptr<Device>> devices;
  const auto add_gpus = [&] {
    for (int index = 0; index < cuda_device_count(); ++index) {
      devices.push_back(open_cuda_device(index));
    }
  };
  if (selection.empty() || selection == "all") add_gpus();
  if (selection == "cpu" || selection == "all" || (selection.empty() && devices.empty())) {
    devices.push_back(std::make_unique<CpuDevice>());
  } else if (selection == "sim" || selection.starts_with("sim:")) {
    const std::string settings = selection.size() > 4 ? selection.substr(4) : "";
    devices.push_back(std::make_unique<SimulatedDevice>(parse_simulation(settings)));
  } else if (selection.starts_with("cuda:")) {
    const std::string index = selection.substr(5);
    if (index.empty() || index.size() > 3 || index.find_first_not_of("0123456789") != index.npos) {
      throw UsageError(
          fmt::format("unknown device '{}'; allowed: cuda:N with a whole number N", selection));
    }
    devices.push_back(open_cuda_device(std::stoi(index)));
  } else if (devices.empty()) {
    throw UsageError(fmt::format("unknown device '{}'; allowed: cuda:N, cpu, all", selection));
  }
  return devices;
}

}  // namespace ridgebench
