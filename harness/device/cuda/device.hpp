// NVIDIA GPUs. A build without CUDA has none and says so.
#pragma once

#include <memory>

#include "harness/device/device.hpp"

namespace ridgebench {

// Environment variable: launches do not wait behind a gate. For tools that run kernels one at a
// time, as profilers and sanitizers do; times then include what the host needs to launch.
inline constexpr const char* kUngatedVariable = "RIDGEBENCH_UNGATED";

// 0 without a driver, a device, or CUDA in the build.
int cuda_device_count();

// Throws DeviceError: one line that says why there is no such device.
std::unique_ptr<Device> open_cuda_device(int index);

}  // namespace ridgebench
