#include "harness/measure/crash.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include "harness/base/process.hpp"
#include "harness/base/sudden_end.hpp"
#include "harness/measure/campaign.hpp"
#include "harness/measure/kept_state.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

// A handler may neither allocate nor format, so its texts are made before each row.
struct CurrentRow {
  int file = -1;
  std::array<std::string, kEndCauses.size()> lines;     // of records.jsonl
  std::array<std::string, kEndCauses.size()> messages;  // on stderr
};

CurrentRow g_row;
std::atomic<const CurrentRow*> g_current = nullptr;  // null between rows
std::vector<std::string> g_arguments;
std::vector<char*> g_argv;
std::array<char, 48> g_spent{};
int g_folder = -1;  // in which the run began: names of the arguments may be relative
mode_t g_mask = 0;  // of new files

// Calls async-signal-safe functions only. Returns if the program must end.
void leave_row(const CurrentRow& row, std::size_t cause) {
  if (!write_all(row.file, row.lines[cause]) || !flush(row.file)) return;
  write_all(STDERR_FILENO, row.messages[cause]);
  if (g_argv.empty()) return;
  if (signalled()) _exit(static_cast<int>(ExitCode::undecided));
  umask(g_mask);
  if (fchdir(g_folder) == 0) process_start().execute_itself(g_argv.data());
}

void leave_current_row(std::size_t cause) {
  if (const CurrentRow* row = g_current.exchange(nullptr)) leave_row(*row, cause);
}

}  // namespace

void catch_crashes(const std::vector<std::string>& arguments) {
  g_arguments = arguments;
  g_argv.clear();
  if (g_folder < 0) g_folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  g_mask = mask_of_new_files();
  if (!arguments.empty()) {
    for (std::string& argument : g_arguments) g_argv.push_back(argument.data());
    g_argv.push_back(g_spent.data());
    g_argv.push_back(nullptr);
  }
#pragma omp parallel
  before_sudden_end(leave_current_row);
}

CrashScope::CrashScope(Record row, int records_file, double spent_s) {
  row.status = Status::failed;
  g_row.file = records_file;
  for (std::size_t i = 0; i < kEndCauses.size(); ++i) {
    row.reason = fmt::format("crashed: {}", kEndCauses[i].name);
    g_row.lines[i] = json_line(to_json(row)) + "\n";
    g_row.messages[i] = fmt::format("ridgebench: {} {}; the other rows are kept{}\n", row.id,
                                    *row.reason, g_argv.empty() ? "" : " and measured");
  }
  const auto end = fmt::format_to_n(g_spent.data(), g_spent.size() - 1, "--spent={:.3f}", spent_s);
  *end.out = 0;
  g_current = &g_row;
}

CrashScope::~CrashScope() { g_current = nullptr; }

}  // namespace ridgebench
