#include "harness/base/sudden_end.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>

namespace ridgebench {
namespace {

std::atomic<EndHandler> g_handler = nullptr;
std::atomic<bool> g_ending = false;

void handle(std::size_t cause) {
  if (const EndHandler handler = g_handler.exchange(nullptr)) handler(cause);  // it may call _exit
}

void on_signal(int signal) {
  // Several threads may end at once. The first calls the handler, the others wait for their end.
  if (g_ending.exchange(true)) {
    while (true) pause();
  }
  const auto cause = std::ranges::find(kEndCauses, signal, &EndCause::signal);
  handle(static_cast<std::size_t>(cause - kEndCauses.begin()));
  std::signal(signal, SIG_DFL);
  raise(signal);  // takes effect when the handler returns
}

void on_exit() { handle(kEndCauses.size() - 1); }

void install() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  for (const EndCause& cause : kEndCauses) {
    if (cause.signal != 0) sigaction(cause.signal, &action, nullptr);
  }
  static std::once_flag once;
  std::call_once(once, [] {
    std::atexit(on_exit);
    std::at_quick_exit(on_exit);
  });
}

// The alternate signal stack of a thread, for a stack that overflows. The thread gets its previous
// one back when it ends: a library that set that one, such as a sanitizer, frees it then.
class SignalStack {
 public:
  SignalStack() { sigaltstack(nullptr, &previous_); }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack() { sigaltstack(&previous_, nullptr); }

  void use() {
    const stack_t stack{.ss_sp = memory_.data(), .ss_flags = 0, .ss_size = memory_.size()};
    sigaltstack(&stack, nullptr);
  }

 private:
  std::array<std::byte, std::size_t{1} << 16U> memory_{};
  stack_t previous_{};
};

}  // namespace

void before_sudden_end(EndHandler handler) {
  g_handler = handler;
  if (handler == nullptr) return;
  thread_local SignalStack stack;
  stack.use();
  install();  // each time: a caller of the library may have restored its own
}

}  // namespace ridgebench

// exit() calls the functions of atexit(); these do not. A kernel of a shared object finds them
// here, before those of the C library.
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the names are the C library's, whose attribute clang
// before 18 does not take for [[noreturn]]
__attribute__((__noreturn__)) void _exit(int status) {
  ridgebench::on_exit();
  while (true) syscall(SYS_exit_group, status);
}

__attribute__((__noreturn__)) void _Exit(int status) noexcept { _exit(status); }
// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"
