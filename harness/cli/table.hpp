// The records of a run as a table for people.
#pragma once

#include <iosfwd>
#include <vector>

#include "harness/results/record.hpp"

namespace ridgebench {

// Control rows that moved, then ceilings, then kernels by operation, format and speed; skipped rows
// are counted by reason below. Digits are those that the interval within the run supports.
void print_table(std::ostream& out, const std::vector<Record>& records);

}  // namespace ridgebench
