// The table that `duel` prints.
#pragma once

#include <iosfwd>
#include <span>

#include "harness/results/duel_record.hpp"

namespace ridgebench {

// Prints a line per duel: the first technique's time over the second's in seconds and in cycles,
// each with its 95 % interval, the verdicts, and joules per launch. Lines below it name what the
// techniques chose, and why a duel was not timed.
void print_duels(std::ostream& out, std::span<const DuelRecord> duels);

}  // namespace ridgebench
