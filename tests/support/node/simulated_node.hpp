// A node of simulated GPUs, sim:0, sim:1, ..., for tests of what measures all GPUs of a node. The
// variable RIDGEBENCH_SIMULATED_GPUS names a JSON file: {"*": ["seed=1", ...], "gn2": [...]}. A key
// is the value of SLURMD_NODENAME or the name of the host, and "*" represents any other. Each text
// is what `--device sim:...` takes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/simulated_device.hpp"

namespace ridgebench {

// The texts of this node's GPUs; empty without the variable. Throws UsageError for a file that
// cannot be read or is malformed.
std::vector<std::string> simulated_gpus();

// A GPU of this node. Its uuid_hash is of the node's name and the index where the text gives none.
// Throws DeviceError for an index beyond the list.
Simulation simulated_gpu(std::size_t index);

}  // namespace ridgebench
