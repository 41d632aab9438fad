// Reads the facts about this machine that environment.json holds.
#pragma once

#include <memory>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/results/environment.hpp"

namespace ridgebench {

MachineFacts read_machine(const std::vector<std::unique_ptr<Device>>& devices);

}  // namespace ridgebench
