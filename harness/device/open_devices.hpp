// Finds and opens the devices that --device names. An adapter registers its family; a test program
// links further families in.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/device/device.hpp"

namespace ridgebench {

struct DeviceFamily {
  // Devices of this machine, which the texts "0", "1", ... open.
  struct Found {
    int count = 0;
    std::string none;  // why there is none
  };

  std::string_view name;  // what --device begins with: cpu, cuda
  // Opens the device that the text after "NAME:" names. Throws UsageError for a text that the
  // family does not know, DeviceError for a device that is absent or unusable.
  std::unique_ptr<Device> (*open)(const std::string& text);
  // Opens the default device. Null for a family that must be named. Throws DeviceError
  // where the machine has devices that are unusable.
  Found (*find)() = nullptr;
  // Model, uuid_hash and pci_address of a found device, without opening it; null if unknown.
  nlohmann::ordered_json (*describe)(int index) = nullptr;
};

// Adds a family at start-up: `const RegisterDevices cpu{{.name = "cpu", .open = ...}};`
struct RegisterDevices {
  explicit RegisterDevices(const DeviceFamily& family);
};

inline constexpr const char* kDeviceHelp =
    "cuda:N, GPU-UUID, MIG-UUID, cpu or all; default: every GPU, or cpu where the machine shows "
    "none";

// Devices for --device: "cpu", "cuda:N", the UUID of a GPU or of a slice, or "all". An empty
// selection opens every GPU found, else the host; where the file system at `root` shows a GPU of
// which none can be opened, that is an error. Prints the devices' notes on stderr. Throws
// UsageError or DeviceError.
std::vector<std::unique_ptr<Device>> open_devices(const std::string& selection,
                                                  const std::filesystem::path& root = "/");

// The device that the text names, without its notes: not "all". Throws UsageError or DeviceError.
std::unique_ptr<Device> open_one_device(const std::string& selection);

// The GPUs that the default selection opens, none of which is opened: {device: "cuda:0", index,
// model, uuid_hash, pci_address}, null if unknown. Throws DeviceError where there is none.
std::vector<nlohmann::ordered_json> find_gpus(const std::filesystem::path& root = "/");

// Values of --device on any machine: "all", "cpu", "cuda:0". Looks for no device.
std::vector<std::string> device_words();

}  // namespace ridgebench
