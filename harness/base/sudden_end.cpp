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

void prepare_stack() {
  thread_local std::array<std::byte, std::size_t{1} << 16U> memory;
  const stack_t stack{.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
  sigaltstack(&stack, nullptr);
}

}  // namespace

void before_sudden_end(EndHandler handler) {
  g_handler = handler;
  if (handler == nullptr) return;
  prepare_stack();
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
