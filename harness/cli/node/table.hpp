// The table of a node: what an operator looks at first.
#pragma once

#include <string>

#include "harness/cli/node/node_run.hpp"

namespace ridgebench::node {

// A line per GPU, the rows in which a GPU is odd, and every row in percent of the node's median.
// At most 100 columns with 8 GPUs. Reads the folders of the GPUs; a folder without readable rows
// shows none.
std::string table_of(const NodeRun& run);

}  // namespace ridgebench::node
