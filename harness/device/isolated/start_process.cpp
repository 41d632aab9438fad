#include "harness/device/isolated/start_process.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "harness/base/process.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Other threads of this process, which may hold a lock, do not exist in the new one. Until the
// program starts, no function here takes a lock.
[[noreturn]] void become_kernel_process(pid_t parent, int socket, const char* program,
                                        char* const* arguments, const KernelMessage& no_start) {
  die_with_parent(parent);
  setpgid(0, 0);
  ignore_ending_signals();  // the process that verifies and times decides what they mean
  dup2(STDERR_FILENO, STDOUT_FILENO);
  // dup2() leaves a descriptor as it is that has the right number already.
  if (socket == kKernelSocket) {
    fcntl(socket, F_SETFD, 0);
  } else {
    dup2(socket, kKernelSocket);
  }
#ifdef SYS_close_range
  syscall(SYS_close_range, kKernelSocket + 1, ~0U, 0);  // the records file among them
#endif
  process_start().execute(program, arguments);
  send_message(kKernelSocket, no_start);
  _exit(static_cast<int>(ExitCode::internal));
}

}  // namespace

std::pair<pid_t, int> start_with_socket(const std::string& program,
                                        std::vector<std::string> arguments,
                                        const KernelMessage& no_start) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pair of sockets");
  }
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process == 0) {
    become_kernel_process(parent, ends[1], program.c_str(), pointers.data(), no_start);
  }
  const int error = errno;
  close(ends[1]);
  if (process > 0) {
    setpgid(process, process);  // whichever process comes first
    return {process, ends[0]};
  }
  close(ends[0]);
  throw std::system_error(error, std::generic_category(), "cannot start another process");
}

}  // namespace ridgebench
