// Starts a process of this program that serves another one.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace ridgebench {

// The descriptor under which the new process has its socket.
inline constexpr int kKernelSocket = 3;

// Starts this program with these arguments, and returns the process and the other end of its
// socket. The process ends with this one. It has no other descriptor of this process than the
// standard streams, and its standard output is this process's standard error: a kernel that prints
// must not write into a table or into JSON. Throws std::system_error.
std::pair<pid_t, int> start_with_socket(std::vector<std::string> arguments);

}  // namespace ridgebench
