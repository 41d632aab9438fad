// GPUs of NVIDIA by what the kernel shows of them and by the names that users give them. The code
// needs no CUDA, because a build without it must not mistake such a machine for one without a GPU.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace ridgebench {

// What shows that this machine has an NVIDIA GPU: a device file of the driver, or a PCI device of
// class "display controller"; empty where nothing does. `root` is the root of the file system.
std::string sign_of_nvidia_gpu(const std::filesystem::path& root = "/");

// True for "GPU-..." and "MIG-...", as nvidia-smi -L prints the UUIDs of GPUs and their slices.
bool is_gpu_uuid(const std::string& text);

// The N of "cuda:N". Throws UsageError for a text that is no index.
std::size_t parse_gpu_index(const std::string& text);

// The index of the GPU that `text` names: an index, or a UUID or a beginning that only one UUID
// has, as CUDA_VISIBLE_DEVICES takes it. Throws UsageError for any other text, DeviceError where
// none of the `uuids` matches.
std::size_t choose_gpu(const std::string& text, const std::vector<std::string>& uuids);

// The environment variable by which a user hides GPUs from the CUDA driver.
inline constexpr const char* kVisibleDevices = "CUDA_VISIBLE_DEVICES";
// Says that the driver offers fewer GPUs than the variable's `value` lists; empty where it offers
// as many. The driver ignores what follows the first entry that names no GPU.
std::string visibility_note(const std::string& value, std::size_t offered);

}  // namespace ridgebench
