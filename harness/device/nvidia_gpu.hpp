// GPUs of NVIDIA by what the kernel shows of them and by the names that users give them. The code
// needs no CUDA, because a build without it must not mistake such a machine for one without a GPU.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ridgebench {

// A device file of a GPU, and why this user cannot open it; empty if nothing keeps him from it.
struct DeviceFile {
  std::string name;  // /dev/nvidia0
  std::string problem;
};
// Both are sorted. `root` is the root of the file system.
std::vector<DeviceFile> nvidia_device_files(const std::filesystem::path& root = "/");

// A PCI device of NVIDIA of class "display controller", and the kernel's driver that serves it.
struct PciGpu {
  std::string address;  // 0000:1b:00.0
  std::string driver;   // nvidia, nouveau, vfio-pci; empty: none
};
std::vector<PciGpu> nvidia_pci_gpus(const std::filesystem::path& root = "/");

// "0000:1b:00.0", as the kernel writes it, for what a driver or NVML writes.
std::string short_pci_address(std::string_view address);
// "10de:2330"
std::string pci_id_text(unsigned vendor, unsigned device);

// Evidence that this machine has an NVIDIA GPU: a device file of the driver, or a PCI device of
// class "display controller"; empty if nothing does. `root` is the root of the file system.
std::string sign_of_nvidia_gpu(const std::filesystem::path& root = "/");

// True for "GPU-..." and "MIG-...", as nvidia-smi -L prints the UUIDs of GPUs and their slices.
bool is_gpu_uuid(const std::string& text);

// The N of "cuda:N". Throws UsageError for a text that is not an index.
std::size_t parse_gpu_index(const std::string& text);

// The index of the GPU that `text` names: an index, or a UUID or a beginning that only one UUID
// has, as CUDA_VISIBLE_DEVICES takes it. Throws UsageError for any other text, DeviceError where
// none of the `uuids` matches.
std::size_t choose_gpu(const std::string& text, const std::vector<std::string>& uuids);

// The environment variable by which a user hides GPUs from the CUDA driver.
inline constexpr const char* kVisibleDevices = "CUDA_VISIBLE_DEVICES";
// Says that the driver offers fewer GPUs than the variable's `value` lists; empty if it offers
// as many. The driver ignores what follows the first entry that names no GPU.
std::string visibility_note(const std::string& value, std::size_t offered);

}  // namespace ridgebench
