// Finds and opens the devices that --device names. An adapter registers its family; a test program
// links further families in.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/device/device.hpp"

namespace ridgebench {

struct DeviceFamily {
  std::string_view name;  // what --device begins with: cpu, cuda
  // Opens the device that the text after "NAME:" names. Throws UsageError for a text that the
  // family does not know, DeviceError for a device that is absent or unusable.
  std::unique_ptr<Device> (*open)(const std::string& text);
  // Devices of this machine that the default selection opens, by the texts "0", "1", ... Null for a
  // family that must be named. Throws DeviceError where the machine has devices that are unusable.
  int (*count)() = nullptr;
};

// Adds a family at start-up: `const RegisterDevices cpu{{.name = "cpu", .open = ...}};`
struct RegisterDevices {
  explicit RegisterDevices(const DeviceFamily& family);
};

// Devices for --device: "cpu", "cuda:N" or "all". An empty selection opens every GPU found, else
// the host. Throws UsageError or DeviceError.
std::vector<std::unique_ptr<Device>> open_devices(const std::string& selection);

}  // namespace ridgebench
