// What a process needs before a command starts, and what it hands to a process that it starts.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <csignal>
#include <vector>

namespace ridgebench {

// Opens /dev/null in place of each standard stream that is closed. A results file would otherwise
// get the descriptor of a standard stream, and the table would be written into it.
void open_standard_streams();

// Raises a limit on the stack that is too small for this program and its threads (ulimit -s).
// Returns false if the limit cannot be raised.
bool have_stack();

// The state in which this process began. Pinned threads and variables that the program sets must
// not reach another process.
struct ProcessStart {
  ProcessStart();
  // Gives the calling thread the processors and signals of the beginning, and replaces the program
  // by a new one of the same file. Calls async-signal-safe functions only. `arguments` end in null.
  // Returns if the system refuses.
  void execute_itself(char* const* arguments) const;

  pid_t parent;
  cpu_set_t processors{};
  sigset_t blocked{};
  std::vector<char*> variables;
};
const ProcessStart& process_start();

// Ends this process when its parent, the process `parent`, ends or has ended already: no other
// process would continue it or read its results. Calls async-signal-safe functions only.
void die_with_parent(pid_t parent);

}  // namespace ridgebench
