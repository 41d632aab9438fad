// Stands in for cuda_device.cu in a build without CUDA.
#include <fmt/format.h>

#include "harness/device/cuda/device.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

int cuda_device_count() { return 0; }

std::unique_ptr<Device> open_cuda_device(int index) {
  throw DeviceError(
      fmt::format("device cuda:{} is absent: this build has no CUDA; allowed: cpu", index));
}

}  // namespace ridgebench
