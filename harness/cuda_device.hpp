// NVIDIA GPUs. A build without CUDA has none and says so.
#pragma once

#include <memory>

#include "harness/device.hpp"

namespace ridgepoint {

// 0 without a driver, a device, or CUDA in the build.
int cuda_device_count();

// Throws DeviceError: one line that says why there is no such device.
std::unique_ptr<Device> open_cuda_device(int index);

}  // namespace ridgepoint
