#include "harness/base/process.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr std::size_t kStack = std::size_t{8} << 20U;          // Linux's usual limit
constexpr std::size_t kSmallestStack = std::size_t{1} << 20U;  // of the main thread
constexpr std::size_t kThreadStack = std::size_t{2} << 20U;    // enough for a kernel and a library

// Threads of OpenMP and of libraries take the default size, which the C library derived from the
// limit when the process started.
void enlarge_stacks_of_threads() {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  std::size_t size = 0;
  pthread_attr_getstacksize(&attributes, &size);
  if (size < kThreadStack && pthread_attr_setstacksize(&attributes, kThreadStack) == 0) {
    pthread_setattr_default_np(&attributes);
  }
  pthread_attr_destroy(&attributes);
}

const ProcessStart g_start;

void say_and_end(int /*signal*/) {
  constexpr std::string_view kLine = "ridgebench: interrupted\n";
  write_all(STDERR_FILENO, kLine);
  _exit(static_cast<int>(ExitCode::undecided));
}

bool is_ignored(int signal) {
  struct sigaction action{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void handle_unless_ignored(void (*handler)(int)) {
  for (const int signal : kEndingSignals) {
    if (!is_ignored(signal)) std::signal(signal, handler);
  }
}

}  // namespace

ProcessStart::ProcessStart() : parent(getppid()) {
  sched_getaffinity(0, sizeof processors, &processors);
  sigprocmask(SIG_SETMASK, nullptr, &blocked);
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);
}

void ProcessStart::execute(const char* program, char* const* arguments) const {
  sched_setaffinity(0, sizeof processors, &processors);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  execvpe(program, arguments, variables.data());
}

const ProcessStart& process_start() { return g_start; }

void die_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A parent that ended before this call sends no signal.
  if (getppid() != parent) raise(SIGKILL);
}

void end_on_signals() { handle_unless_ignored(say_and_end); }

void use_default_signals() { handle_unless_ignored(SIG_DFL); }

void ignore_ending_signals() {
  for (const int signal : kEndingSignals) std::signal(signal, SIG_IGN);
}

void block_ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kEndingSignals) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
}

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // open() returns the smallest free descriptor, which is this one.
    if (fcntl(stream, F_GETFD) == -1) static_cast<void>(open("/dev/null", O_RDWR));
  }
}

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kLargestKept = 32 << 20;  // of one allocation; glibc allows no more
  mallopt(M_MMAP_THRESHOLD, kLargestKept);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
}

bool have_stack() {
  enlarge_stacks_of_threads();
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kSmallestStack) return true;
  // The kernel reads the limit when the stack grows, so that a raised limit serves this process.
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, kStack);
  return limit.rlim_cur >= kSmallestStack && setrlimit(RLIMIT_STACK, &limit) == 0;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool flush(int file) {
  while (fdatasync(file) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

}  // namespace ridgebench
