// Processes that measure the same rows in turns of a few samples, so that whatever slows the
// machine for a tenth of a second or more slows all alike. Only one of them runs at a time: before
// each turn a process stops its process group, all threads of it, until the one that started it
// continues it by SIGCONT, to let the others rest (roofline/ridgebench/compare/turns.py).
#pragma once

namespace ridgebench {

// Ties the life of this process to its parent's: nobody else would continue it.
void die_with_parent();

// Stops this process group until it is continued; returns the seconds that passed.
double end_turn();

}  // namespace ridgebench
