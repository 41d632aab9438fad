#include "harness/device/cuda/driver_library.hpp"

#include <array>
#include <cstdint>

#include "harness/base/loaded_file.hpp"
#include "harness/device/cuda/driver_calls.hpp"
#include "harness/device/nvidia_gpu.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

constexpr int kTextLength = 256;

// CUdevice_attribute
constexpr int kMultiprocessors = 16;
constexpr int kL2Bytes = 38;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;

ordered_json nullable_name(const DriverLibrary& driver, int status) {
  const std::string name = driver.name_of(status);
  return name.empty() ? ordered_json(nullptr) : ordered_json(name);
}

std::string gpu_text(const DriverLibrary& driver, const char* function, int gpu) {
  std::array<char, kTextLength> text{};
  return driver.call(function, text.data(), kTextLength, gpu) == 0 ? text.data() : "";
}

ordered_json gpu_attribute(const DriverLibrary& driver, int attribute, int gpu) {
  int value = 0;
  if (driver.call("cuDeviceGetAttribute", &value, attribute, gpu) != 0) return nullptr;
  return value;
}

ordered_json describe_gpu(const DriverLibrary& driver, int index) {
  int gpu = 0;
  if (driver.call("cuDeviceGet", &gpu, index) != 0) return {{"index", index}};
  std::size_t bytes = 0;
  const bool has_bytes = driver.call("cuDeviceTotalMem_v2", &bytes, gpu) == 0;
  const ordered_json major = gpu_attribute(driver, kCapabilityMajor, gpu);
  const ordered_json minor = gpu_attribute(driver, kCapabilityMinor, gpu);
  ordered_json capability = nullptr;
  if (major.is_number() && minor.is_number()) capability = 10 * major.get<int>() + minor.get<int>();
  const std::string model = gpu_text(driver, "cuDeviceGetName", gpu);
  return {{"index", index},
          {"model", model},
          {"pci_address", short_pci_address(gpu_text(driver, "cuDeviceGetPCIBusId", gpu))},
          {"compute_capability", capability},
          {"sms", gpu_attribute(driver, kMultiprocessors, gpu)},
          {"l2_bytes", gpu_attribute(driver, kL2Bytes, gpu)},
          {"memory_bytes", has_bytes ? ordered_json(bytes) : ordered_json(nullptr)},
          {"slice", model.find("MIG") != std::string::npos}};
}

// The first call that fails, and its status.
struct Tried {
  const char* call;
  int status;
};

Tried use_gpu(const DriverLibrary& driver, int index) {
  constexpr std::size_t kBytes = std::size_t{1} << 20U;
  int gpu = 0;
  void* context = nullptr;
  std::uint64_t memory = 0;  // CUdeviceptr
  if (const int status = driver.call("cuDeviceGet", &gpu, index)) return {"cuDeviceGet", status};
  if (const int status = driver.call("cuDevicePrimaryCtxRetain", &context, gpu))
    return {"cuDevicePrimaryCtxRetain", status};
  if (const int status = driver.call("cuCtxSetCurrent", context))
    return {"cuCtxSetCurrent", status};
  if (const int status = driver.call("cuMemAlloc_v2", &memory, kBytes))
    return {"cuMemAlloc", status};
  if (const int status =
          driver.call("cuMemsetD8_v2", memory, static_cast<unsigned char>(1), kBytes))
    return {"cuMemsetD8", status};
  if (const int status = driver.call("cuCtxSynchronize")) return {"cuCtxSynchronize", status};
  driver.call("cuMemFree_v2", memory);
  driver.call("cuDevicePrimaryCtxRelease_v2", gpu);
  return {nullptr, 0};
}

}  // namespace

ordered_json read_cuda_driver() {
  ordered_json json{{"library", nullptr},
                    {"version", nullptr},
                    {"status", nullptr},
                    {"status_name", nullptr},
                    {"gpus", ordered_json::array()}};
  const DriverLibrary driver;
  if (!driver.loaded()) return json;
  json["library"] = loaded_file("libcuda");
  int version = 0;
  if (driver.call("cuDriverGetVersion", &version) == 0) json["version"] = version;
  const int status = driver.call("cuInit", 0U);
  json["status"] = status;
  json["status_name"] = nullable_name(driver, status);
  int count = 0;
  if (status != 0 || driver.call("cuDeviceGetCount", &count) != 0) return json;
  for (int i = 0; i < count; ++i) json["gpus"].push_back(describe_gpu(driver, i));
  return json;
}

ordered_json try_gpu(int index) {
  const DriverLibrary driver;
  const int start = driver.call("cuInit", 0U);
  const Tried tried = start != 0 ? Tried{"cuInit", start} : use_gpu(driver, index);
  return {{"status", tried.status},
          {"status_name", nullable_name(driver, tried.status)},
          {"call", tried.call == nullptr ? ordered_json(nullptr) : ordered_json(tried.call)}};
}

}  // namespace ridgebench
