// Starts a process that serves this one.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/device/isolated/message.hpp"

namespace ridgebench {

// The descriptor under which the new process has its socket.
inline constexpr int kKernelSocket = 3;

// Starts a program with these arguments, the first of which is its name, and returns the process
// and the other end of its socket. The process sends `no_start` if the system refuses the program.
// The process ends with this one and leads a group of processes. It has no other descriptor of this
// process than the standard streams, and its standard output is this process's standard error: a
// kernel that prints must not write into a table or into JSON. Throws std::system_error.
std::pair<pid_t, int> start_with_socket(const std::string& program,
                                        std::vector<std::string> arguments,
                                        const KernelMessage& no_start);

}  // namespace ridgebench
