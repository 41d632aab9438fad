// What a process needs before a command starts.
#pragma once

namespace ridgebench {

// Opens /dev/null in place of each standard stream that is closed. A results file would otherwise
// get the descriptor of a standard stream, and the table would be written into it.
void open_standard_streams();

// Raises a limit on the stack that is too small for this program and its threads (ulimit -s).
// Returns false if the limit cannot be raised.
bool have_stack();

}  // namespace ridgebench
