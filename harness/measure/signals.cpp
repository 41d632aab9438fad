#include "harness/measure/signals.hpp"

#include <atomic>
#include <cstdint>
#include <ctime>

#include "harness/base/process.hpp"

namespace ridgebench {
namespace {

// `timeout` signals a process and then its group, and a terminal all processes of a script, which
// may pass the signal on: within this time both are one interruption.
constexpr std::int64_t kTogether_ns = 500'000'000;

volatile std::sig_atomic_t g_signalled = 0;
std::atomic<std::int64_t> g_first_ns = 0;

std::int64_t steady_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void note_signal(int signal) {
  g_signalled = 1;
  std::int64_t first = 0;
  const std::int64_t now = steady_ns();
  if (g_first_ns.compare_exchange_strong(first, now)) return;
  if (signal == SIGXCPU || now - first < kTogether_ns) return;
  std::signal(signal, SIG_DFL);
  raise(signal);  // takes effect when the handler returns
}

}  // namespace

void listen_for_signals() {
  g_signalled = 0;  // a signal ended an earlier run of this process
  g_first_ns = 0;
  struct sigaction action{};
  action.sa_handler = note_signal;
  for (const int signal : kEndingSignals) {
    struct sigaction before{};
    sigaction(signal, nullptr, &before);
    // A shell's background job ignores SIGINT, and a script that ends it sends SIGINT all the same.
    if (signal == SIGINT || before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond a file-size limit fails, as on a full disk
  std::signal(SIGPIPE, SIG_IGN);
}

bool signalled() { return g_signalled != 0; }

}  // namespace ridgebench
