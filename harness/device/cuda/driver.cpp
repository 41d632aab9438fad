#include "harness/device/cuda/driver.cuh"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cstdlib>

#include "harness/device/cuda/identity.cuh"
#include "harness/device/nvidia_gpu.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Newest CUDA that the driver serves; 0 without a driver.
int driver_version() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

// "13.0" for 13000.
std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string reason_of(cudaError_t status) {
  const int driver = driver_version();
  if (status == cudaErrorInsufficientDriver && driver < CUDART_VERSION) {
    return fmt::format(
        "the driver serves CUDA up to {}, and this binary was built with {} (CUDA error {}); a "
        "newer driver or an older toolkit helps",
        cuda_version(driver), cuda_version(CUDART_VERSION), static_cast<int>(status));
  }
  const char* hint = "";
  if (status == cudaErrorSystemDriverMismatch) {
    hint = "; libcuda and the kernel's module differ in version until the module is loaded again";
  }
  return fmt::format("{} (CUDA error {}){}", cudaGetErrorString(status), static_cast<int>(status),
                     hint);
}

std::string reason_of_none() {
  if (driver_version() == 0) return "no NVIDIA driver was found";
  const char* const visible = std::getenv(kVisibleDevices);
  if (visible == nullptr) return "the NVIDIA driver offers no GPU";
  return fmt::format("the NVIDIA driver offers no GPU under {}='{}'", kVisibleDevices, visible);
}

// The driver shows a process one slice of one GPU only, by default the first. It reads the variable
// once, before the first call of the runtime returns.
void show_slice(const std::string& text) {
  constexpr int kKeepTheUsers = 0;
  if (text.starts_with("MIG-")) setenv(kVisibleDevices, text.c_str(), kKeepTheUsers);
}

// A GPU that cannot be read has an empty one; opening it says why.
std::vector<std::string> uuids(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    const bool read = cudaGetDeviceProperties(&properties, i) == cudaSuccess;
    all.push_back(read ? uuid_text(properties) : std::string());
    static_cast<void>(cudaGetLastError());  // clears it
  }
  return all;
}

}  // namespace

DeviceFamily::Found find_cuda_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return {.count = count, .none = {}};
  static_cast<void>(cudaGetLastError());  // clears it
  // The runtime reports a missing driver as one that is too old.
  const bool absent = status == cudaSuccess || status == cudaErrorNoDevice ||
                      (status == cudaErrorInsufficientDriver && driver_version() == 0);
  if (absent) return {.count = 0, .none = reason_of_none()};
  throw DeviceError("the GPUs of this machine cannot be used: " + reason_of(status) +
                    "; allowed: --device cpu");
}

int choose_cuda_device(const std::string& text) {
  if (!is_gpu_uuid(text)) parse_gpu_index(text);  // a typing error comes before a missing driver
  show_slice(text);
  const DeviceFamily::Found found = find_cuda_devices();
  if (found.count == 0) {
    const std::string sign = sign_of_nvidia_gpu();
    throw DeviceError(fmt::format("device {}{} is absent: {}{}; allowed: cpu",
                                  is_gpu_uuid(text) ? "" : "cuda:", text, found.none,
                                  sign.empty() ? "" : " (the machine shows " + sign + ")"));
  }
  return static_cast<int>(choose_gpu(text, uuids(found.count)));
}

std::string why_one_process(int index) {
  int mode = cudaComputeModeDefault;
  cuda::check(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, index));
  if (mode == cudaComputeModeDefault) return {};
  return "the GPU's compute mode lets one process use it; allowed: nvidia-smi -c DEFAULT";
}

std::vector<std::string> notes_of_driver() {
  const char* const visible = std::getenv(kVisibleDevices);
  int count = 0;
  if (visible == nullptr || cudaGetDeviceCount(&count) != cudaSuccess) return {};
  const std::string note = visibility_note(visible, static_cast<std::size_t>(count));
  return note.empty() ? std::vector<std::string>() : std::vector<std::string>{note};
}

}  // namespace ridgebench
