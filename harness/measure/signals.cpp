#include "harness/measure/signals.hpp"

#include <csignal>

namespace ridgebench {
namespace {

volatile std::sig_atomic_t g_signalled = 0;

}  // namespace

void listen_for_signals() {
  g_signalled = 0;  // a signal ended an earlier run of this process
  struct sigaction action {};
  action.sa_handler = [](int) { g_signalled = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second signal ends the process at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond a file-size limit fails, as on a full disk
  std::signal(SIGPIPE, SIG_IGN);
}

bool signalled() { return g_signalled != 0; }

}  // namespace ridgebench
