// Prints the records of a run as a table.
#pragma once

#include <iosfwd>
#include <vector>

#include "harness/results/record.hpp"

namespace ridgebench {

// The table lists control rows that moved, ceilings, kernels by operation, format and speed, and
// the skipped formats by reason. Numbers have the digits that the interval within the run supports.
void print_table(std::ostream& out, const std::vector<Record>& records);

}  // namespace ridgebench
