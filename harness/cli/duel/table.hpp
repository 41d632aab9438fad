// The table that `duel` prints.
#pragma once

#include <iosfwd>
#include <span>
#include <vector>

#include "harness/measure/duel/duel_case.hpp"
#include "harness/results/duel_record.hpp"

namespace ridgebench {

// Prints the id of each duel, its planned seconds or why it is skipped, and their sum.
void print_plan(std::ostream& out, const std::vector<DuelCase>& duels);

// Prints a line per duel: the first technique's time over the second's, with the power that each
// draws and at one clock, each with its 95 % interval and its verdict; the sides whose launches
// start early; and joules per launch. Lines below it show both halves of a ratio that depends on
// the clock, name what the techniques chose, and why a duel was not timed.
void print_duels(std::ostream& out, std::span<const DuelRecord> duels);

}  // namespace ridgebench
