// Finds out if the installed driver serves this binary, and which GPUs it offers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/device/open_devices.hpp"

namespace ridgebench {

// GPUs that the runtime offers. There is none where the driver is missing or offers no GPU. Throws
// DeviceError with the reason for any other failure.
DeviceFamily::Found find_cuda_devices();

// Index of the GPU that the text names (choose_gpu). Throws UsageError and DeviceError.
int choose_cuda_device(const std::string& text);

// The GPU with that index. `text` is what --device names it in another process.
std::unique_ptr<Device> make_cuda_device(int index, const std::string& text);

// Why only one process can use the GPU; empty if others can.
std::string why_one_process(int index);

// Note on CUDA_VISIBLE_DEVICES if the driver reads it otherwise than a user would expect.
std::vector<std::string> notes_of_driver();

}  // namespace ridgebench
