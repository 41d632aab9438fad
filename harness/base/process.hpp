// Sets up a process before a command starts, and starts other processes.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <array>
#include <csignal>
#include <string_view>
#include <vector>

namespace ridgebench {

// The name by which the system finds the file of this program.
inline constexpr const char* kThisProgram = "/proc/self/exe";

// Opens /dev/null in place of each standard stream that is closed. A results file would otherwise
// get the descriptor of a standard stream, and the table would be written into it.
void open_standard_streams();

// Raises a limit on the stack that is too small for this program and its threads (ulimit -s).
// Returns false if the limit cannot be raised.
bool have_stack();

// Lets the allocator keep up to 128 MiB of freed memory. References take and free tens of MiB for
// each comparison, and the kernel would clear each page anew: with it, a run has less than half of
// the page faults.
void keep_freed_memory();

// Signals with which people, batch systems and lost connections end a program. The system sends
// SIGXCPU each second once a process has used its time (ulimit -t).
inline constexpr std::array kEndingSignals{SIGINT, SIGTERM, SIGHUP, SIGXCPU};

// Until listen_for_signals(), an ending signal prints one line and ends the process with exit code
// 3. A signal that the caller ignores, as nohup does, stays ignored.
void end_on_signals();

// The functions below call async-signal-safe functions only.

// Gives the ending signals their usual effect in a forked process: its parent says what an
// interruption means. What is ignored stays ignored.
void use_default_signals();
// Ignores them, also in a program that takes this one's place: its parent ends it.
void ignore_ending_signals();
// Blocks them for a program that takes this one's place. It unblocks them once it handles them.
void block_ending_signals();

// The state in which this process began. Pinned threads and variables that the program sets must
// not reach another process.
struct ProcessStart {
  ProcessStart();
  // Gives the calling thread the processors and signals of the beginning, and replaces the program
  // by another one. PATH finds one whose name has no folder. Allocates nothing, so that it serves
  // after a fork. `arguments` end in null. Returns if the system refuses.
  void execute(const char* program, char* const* arguments) const;
  // The same, by a new program of the same file.
  void execute_itself(char* const* arguments) const { execute(kThisProgram, arguments); }

  pid_t parent;
  cpu_set_t processors{};
  sigset_t blocked{};
  std::vector<char*> variables;
};
const ProcessStart& process_start();

// Ends this process when its parent, the process `parent`, ends or has ended already: no other
// process would continue it or read its results. Calls async-signal-safe functions only.
void die_with_parent(pid_t parent);

// Writes all of the text. Returns false, with errno, if a write fails.
bool write_all(int file, std::string_view text);
// Waits until the disk has what was written. Returns false, with errno, if it fails.
bool flush(int file);

}  // namespace ridgebench
