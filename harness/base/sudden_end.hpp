// Events that can end a process in the midst of a function: a signal such as SIGSEGV, an abort, an
// exception that leaves a thread, a call of exit, quick_exit, _exit or _Exit.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>

namespace ridgebench {

struct EndCause {
  int signal;  // 0: a call of exit
  const char* name;
};
inline constexpr std::array kEndCauses{
    EndCause{SIGSEGV, "SIGSEGV, a wrong address"},
    EndCause{SIGBUS, "SIGBUS, memory that is not there"},
    EndCause{SIGFPE, "SIGFPE, a division by zero"},
    EndCause{SIGILL, "SIGILL, an instruction that this processor lacks"},
    EndCause{SIGABRT, "SIGABRT, an abort or an uncaught exception"},
    EndCause{SIGSYS, "SIGSYS, a system call that is not allowed"},
    EndCause{0, "a call of exit"}};

// Gets an index of kEndCauses, and calls async-signal-safe functions only. If it returns, the
// process ends as it would have without it.
using EndHandler = void (*)(std::size_t cause);

// Makes the process call `handler` before it ends suddenly, in place of the handler before; null:
// none. The calling thread gets a stack for it, because its own may have overflowed; other threads
// get theirs by a call of their own.
void before_sudden_end(EndHandler handler);

}  // namespace ridgebench
