// The identity and settings of a GPU.
#pragma once

#include <cuda_runtime.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/device/cuda/nvml.hpp"
#include "kernels/common/machine.hpp"
#include "roofline/device_spec.hpp"

namespace ridgebench {

// As NVML spells it; "MIG-..." for a slice of a device.
std::string uuid_text(const cudaDeviceProp& properties);

// By name, else by PCI id; null for a slice, which has a part of the peaks of the whole device.
const DeviceSpec* sheet_of(const cudaDeviceProp& properties);

Machine machine_of(const cudaDeviceProp& properties, const DeviceSpec* sheet);

// Model, uuid_hash and pci_address.
nlohmann::ordered_json describe(const cudaDeviceProp& properties);

// The keys of environment.json that do not depend on a run; what `nvml` cannot read, all of its
// keys where it is null, is left out.
nlohmann::ordered_json identity_of(const cudaDeviceProp& properties, const Machine& machine,
                                   const Nvml* nvml);

}  // namespace ridgebench
