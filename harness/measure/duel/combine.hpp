// Makes one record of a duel that several processes measured.
#pragma once

#include <span>

#include "harness/results/duel_record.hpp"

namespace ridgebench {

// Returns what the records of the processes, one at least, say together. A process is one
// observation: its log ratio is the mean of its blocks of quads. If the ratio of one process
// depends on the clock, the duel has a ratio at full clock and one at the cap, each over the
// processes that met this state, and none of both. On a GPU the error within each process counts,
// too (process_ratio.hpp). Times are means over the processes, and each process gives one value of
// joules. Choices, verification and telemetry are those of the first. If a process has another
// status than ok, the duel has it too, with the reason.
DuelRecord combine(std::span<const DuelRecord> processes);

}  // namespace ridgebench
