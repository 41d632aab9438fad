#include "harness/measure/crash.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "harness/base/process.hpp"
#include "harness/measure/campaign.hpp"

namespace ridgebench {
namespace {

struct Cause {
  int signal;  // 0: a call of exit
  const char* name;
};
constexpr std::array kCauses{Cause{SIGSEGV, "SIGSEGV, a wrong address"},
                             Cause{SIGBUS, "SIGBUS, memory that is not there"},
                             Cause{SIGFPE, "SIGFPE, a division by zero"},
                             Cause{SIGILL, "SIGILL, an instruction that this processor lacks"},
                             Cause{SIGABRT, "SIGABRT, an abort or an uncaught exception"},
                             Cause{SIGSYS, "SIGSYS, a system call that is not allowed"},
                             Cause{0, "a call of exit"}};

// A handler may neither allocate nor format, so its texts are made before each row.
struct Row {
  int file = -1;
  std::array<std::string, kCauses.size()> lines;     // of records.jsonl
  std::array<std::string, kCauses.size()> messages;  // on stderr
};

Row g_row;
std::atomic<const Row*> g_current = nullptr;  // null between rows
std::atomic<bool> g_crashed = false;
std::vector<std::string> g_arguments;
std::vector<char*> g_argv;
std::array<char, 48> g_spent{};

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Calls async-signal-safe functions only. Returns if the program must end.
void leave_row(const Row& row, std::size_t cause) {
  if (!write_all(row.file, row.lines[cause]) || fdatasync(row.file) != 0) return;
  write_all(STDERR_FILENO, row.messages[cause]);
  if (g_argv.empty()) return;
  if (signalled()) _exit(static_cast<int>(ExitCode::undecided));
  process_start().execute_itself(g_argv.data());
}

void on_signal(int signal) {
  // Several threads may crash at once. The first writes the row, the others wait for their end.
  if (g_crashed.exchange(true)) {
    while (true) pause();
  }
  const auto cause = std::ranges::find(kCauses, signal, &Cause::signal) - kCauses.begin();
  if (const Row* row = g_current.exchange(nullptr)) {
    leave_row(*row, static_cast<std::size_t>(cause));
  }
  std::signal(signal, SIG_DFL);
  raise(signal);  // takes effect when the handler returns
}

void on_exit() {
  if (const Row* row = g_current.exchange(nullptr)) leave_row(*row, kCauses.size() - 1);
}

// Gives the calling thread a stack for the handler, because its own may have overflowed.
void prepare_stack() {
  thread_local std::array<std::byte, std::size_t{1} << 16U> memory;
  const stack_t stack{.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
  sigaltstack(&stack, nullptr);
}

}  // namespace

void catch_crashes(const std::vector<std::string>& arguments) {
  g_arguments = arguments;
  g_argv.clear();
  if (!arguments.empty()) {
    for (std::string& argument : g_arguments) g_argv.push_back(argument.data());
    g_argv.push_back(g_spent.data());
    g_argv.push_back(nullptr);
  }
#pragma omp parallel
  prepare_stack();
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  for (const Cause& cause : kCauses) {
    if (cause.signal != 0) sigaction(cause.signal, &action, nullptr);
  }
  std::atexit(on_exit);
}

CrashScope::CrashScope(Record row, int records_file, double spent_s) {
  row.status = Status::failed;
  g_row.file = records_file;
  for (std::size_t i = 0; i < kCauses.size(); ++i) {
    row.reason = fmt::format("crashed: {}", kCauses[i].name);
    g_row.lines[i] = to_json(row).dump() + "\n";
    g_row.messages[i] = fmt::format("ridgebench: {} {}; the other rows are kept{}\n", row.id,
                                    *row.reason, g_argv.empty() ? "" : " and measured");
  }
  const auto end = fmt::format_to_n(g_spent.data(), g_spent.size() - 1, "--spent={:.3f}", spent_s);
  *end.out = 0;
  g_current = &g_row;
}

CrashScope::~CrashScope() { g_current = nullptr; }

}  // namespace ridgebench
