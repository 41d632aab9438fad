// The table of a node: what an operator looks at first.
#pragma once

#include <string>

#include "harness/cli/node/rows.hpp"

namespace ridgebench::node {

// A line per GPU, the rows in which a GPU is odd, and every row in percent of the node's median.
// At most 100 columns with 8 GPUs.
std::string table_of(const NodeRun& run, const RowsOfNode& all);

}  // namespace ridgebench::node
