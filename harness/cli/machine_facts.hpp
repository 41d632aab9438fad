// Reads the facts about this machine that environment.json holds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/results/environment.hpp"

namespace ridgebench {

// SLURMD_NODENAME, the name of this node in Slurm, else the name of the host.
std::string node_name();
// The first 16 digits of the SHA-256 of the host's name.
std::string hostname_hash();

MachineFacts read_machine(const std::vector<std::unique_ptr<Device>>& devices);

}  // namespace ridgebench
