// Opens the GPUs that --device names.
#include "harness/device/cuda/driver.cuh"
#include "harness/device/cuda/identity.cuh"
#include "harness/device/open_devices.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

std::unique_ptr<Device> open_device(const std::string& text) {
  const int index = choose_cuda_device(text);
  try {
    // Another process sees a slice of a GPU only under the slice's own name.
    const bool slice = text.starts_with("MIG-");
    return make_cuda_device(index, slice ? text : "cuda:" + std::to_string(index));
  } catch (const std::exception& error) {
    throw DeviceError("device cuda:" + std::to_string(index) + " cannot be used: " + error.what() +
                      "; allowed: --device cpu");
  }
}

nlohmann::ordered_json describe_device(int index) {
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, index));  // makes no context
  return describe(properties);
}

const RegisterDevices cuda_devices{
    {.name = "cuda", .open = open_device, .find = find_cuda_devices, .describe = describe_device}};

}  // namespace
}  // namespace ridgebench
