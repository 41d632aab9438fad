#include "harness/device/cuda/identity.cuh"

#include <algorithm>
#include <array>
#include <cstdio>

#include "harness/base/checksum.hpp"
#include "harness/device/cpu/info.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/lib/cublas_functions.cuh"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

// A launch moves so much in fp32, and a quarter of it in fp8.
constexpr std::int64_t kLongLaunchBytes = std::int64_t{4} << 30U;
// Sizes sweeps and judges nothing: a good matmul on the fp32 units of one SM.
constexpr double kFlopsPerSecondOfAnSm = 4e11;

std::string version(std::size_t number, std::size_t major, std::size_t minor) {
  return std::to_string(number / major) + "." + std::to_string(number % major / minor);
}

// Empty where the library is missing.
std::string cublas_version() {
  try {
    return version(cuda::cublasLtGetVersion(), 10000, 100);
  } catch (const Unsupported&) {
    return {};
  }
}

bool is_slice(const cudaDeviceProp& properties) {
  return std::string_view(properties.name).find("MIG") != std::string_view::npos;
}

// "0000:1b:00.0"
std::string pci_address(const cudaDeviceProp& properties) {
  std::array<char, 32> address{};
  std::snprintf(address.data(), address.size(), "%04x:%02x:%02x.0", properties.pciDomainID,
                properties.pciBusID, properties.pciDeviceID);
  return address.data();
}

// The content of a file in the device's folder of /sys; empty if the kernel does not list it.
std::string bus_entry(const cudaDeviceProp& properties, const std::string& file) {
  return first_line("/sys/bus/pci/devices/" + pci_address(properties) + "/" + file);
}

// "10de:2330" from such files; `prefix` chooses the subsystem's.
std::string pci_id(const cudaDeviceProp& properties, const std::string& prefix = "") {
  const std::string vendor = bus_entry(properties, prefix + "vendor");
  const std::string device = bus_entry(properties, prefix + "device");
  if (vendor.size() < 3 || device.size() < 3) return {};
  return vendor.substr(2) + ":" + device.substr(2);  // without "0x"
}

}  // namespace

std::string uuid_text(const cudaDeviceProp& properties) {
  std::string text = is_slice(properties) ? "MIG-" : "GPU-";
  for (int i = 0; i < 16; ++i) {
    std::array<char, 4> byte{};
    std::snprintf(byte.data(), byte.size(), "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(properties.uuid.bytes[i])));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += byte.data();
  }
  return text;
}

const DeviceSpec* sheet_of(const cudaDeviceProp& properties) {
  return is_slice(properties) ? nullptr : match_data_sheet(properties.name, pci_id(properties));
}

Machine machine_of(const cudaDeviceProp& properties, const DeviceSpec* sheet) {
  // A driver may report more cache than the data sheet lists: the smaller figure holds.
  double l2 = properties.l2CacheSize;
  if (sheet != nullptr && sheet->l2.bytes) l2 = std::min(l2, *sheet->l2.bytes);
  const int sms = properties.multiProcessorCount;
  return {.units = sms,
          .compute_capability = 10 * properties.major + properties.minor,
          .caches = {{.level = 2, .bytes = static_cast<std::int64_t>(l2), .shared_by = sms}},
          .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
          .flops_per_s_hint = sms * kFlopsPerSecondOfAnSm,
          .long_launch_bytes = kLongLaunchBytes};
}

ordered_json describe(const cudaDeviceProp& properties) {
  return {{"model", properties.name},
          {"uuid_hash", sha256(uuid_text(properties)).substr(0, 16)},
          {"pci_address", pci_address(properties)}};
}

ordered_json identity_of(const cudaDeviceProp& properties, const Machine& machine,
                         const Nvml* nvml) {
  int runtime = 0;
  int driver_api = 0;
  cuda::check(cudaRuntimeGetVersion(&runtime));
  cuda::check(cudaDriverGetVersion(&driver_api));
  const auto cuda_version = [](int number) {
    return version(static_cast<std::size_t>(number), 1000, 10);
  };
  const ordered_json l2{
      {"level", 2}, {"bytes", machine.last_level_cache_bytes()}, {"shared_by", machine.units}};
  ordered_json json = describe(properties);
  json.update(
      {{"vendor", "NVIDIA"},
       {"compute_capability", version(static_cast<std::size_t>(machine.compute_capability), 10, 1)},
       {"sms", machine.units},
       {"caches", ordered_json::array({l2})},
       {"memory_bytes", machine.memory_bytes},
       {"memory_bus_bits", properties.memoryBusWidth},
       {"cuda", cuda_version(runtime)},
       {"cuda_of_driver", cuda_version(driver_api)}});
  for (const auto& [key, text] : {std::pair{"cublas", cublas_version()},
                                  {"pci_id", pci_id(properties)},
                                  {"pci_subsystem_id", pci_id(properties, "subsystem_")},
                                  {"numa_node", bus_entry(properties, "numa_node")}}) {
    if (!text.empty()) json[key] = text;
  }
  if (nvml != nullptr) json.update(nvml->inventory());
  return json;
}

}  // namespace ridgebench
