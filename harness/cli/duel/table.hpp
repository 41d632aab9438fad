// The table that `duel` prints.
#pragma once

#include <iosfwd>
#include <span>

#include "harness/results/duel_record.hpp"

namespace ridgebench {

// Prints a line per duel: the first technique's time over the second's, with the power that each
// draws and at one clock, each with its 95 % interval and its verdict; the sides whose launches
// start early; and joules per launch. Lines below it show both halves of a ratio that depends on
// the clock, name what the techniques chose, and why a duel was not timed.
void print_duels(std::ostream& out, std::span<const DuelRecord> duels);

}  // namespace ridgebench
