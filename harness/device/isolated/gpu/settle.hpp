// Decides, before the first row of an own kernel of a GPU, whether it runs in another process.
#pragma once

#include "harness/device/device.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

// Tries, once for each device, whether a process of own kernels can open the GPU and map its memory
// next to this process. If it cannot, own kernels of GPUs run in this process from now on, and a
// line on stderr says why. Does nothing for a technique of a host or of the program.
void settle_isolation(Device& device, const Implementation& implementation);

}  // namespace ridgebench
