#include "harness/base/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "harness/base/process.hpp"
#include "harness/base/stopwatch.hpp"

namespace ridgebench {
namespace {

[[noreturn]] void work_and_end(const std::function<void(int)>& work, int descriptor) {
  if (const int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  try {
    work(descriptor);
  } catch (...) {
    std::abort();  // a crash, as any other
  }
  _exit(0);  // leaves the parent's buffers alone
}

// Reads until the writer closes. Returns false if `until_s` comes first.
bool read_all(int descriptor, double until_s, std::string& text) {
  std::array<char, 4096> buffer;
  while (true) {
    const double left_s = until_s - steady_s();
    pollfd ready{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int changed = poll(&ready, 1, std::max(0, static_cast<int>(left_s * 1e3)));
    if (changed < 0 && errno == EINTR) continue;
    if (changed <= 0) return false;
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count == 0) return true;
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

// A process that hangs inside a call of the driver outlives SIGKILL: this one does not wait for it.
void end_process(pid_t process) {
  kill(process, SIGKILL);
  for (int i = 0; i < 100 && waitpid(process, nullptr, WNOHANG) == 0; ++i) usleep(1000);
}

}  // namespace

Child::Child(const std::function<void(int)>& work) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) {
    die_with_parent(parent);
    use_default_signals();
    work_and_end(work, ends[1]);
  }
  close(ends[1]);
  answer_ = ends[0];
  if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
}

Child::Child(Child&& other) noexcept
    : process_(std::exchange(other.process_, -1)), answer_(std::exchange(other.answer_, -1)) {}

Child::~Child() {
  if (process_ > 0) end_process(process_);
  if (answer_ >= 0) close(answer_);
}

void answer_with_stdout(int descriptor) {
  dup2(STDOUT_FILENO, STDERR_FILENO);
  dup2(descriptor, STDOUT_FILENO);
}

ChildAnswer Child::wait(double until_s) {
  ChildAnswer answer;
  if (!read_all(answer_, until_s, answer.text)) {
    end_process(std::exchange(process_, -1));
    answer.end = ChildEnd::hung;
    return answer;
  }
  int status = -1;  // neither an exit code nor a signal
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  process_ = -1;
  if (WIFEXITED(status)) answer.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) {
    answer.end = ChildEnd::crashed;
    answer.signal = WTERMSIG(status);
  }
  return answer;
}

}  // namespace ridgebench
