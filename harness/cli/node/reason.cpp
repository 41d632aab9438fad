#include "harness/cli/node/reason.hpp"

#include <fmt/format.h>

#include <fstream>
#include <optional>

#include "harness/base/printable.hpp"
#include "harness/cli/soak/table.hpp"
#include "harness/results/outcome.hpp"
#include "harness/results/record.hpp"
#include "harness/results/soak_report.hpp"

namespace ridgebench::node {
namespace {

constexpr std::string_view kProblem = "ridgebench: ";

// The last line by which the process named a problem.
std::string last_problem(const std::filesystem::path& log, std::uintmax_t begin) {
  std::ifstream file(log);
  file.seekg(static_cast<std::streamoff>(begin));
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kProblem)) last = line.substr(kProblem.size());
  }
  return printable(last);
}

void explain_rows(Failure& failure, const std::filesystem::path& folder) {
  std::vector<Record> bad;
  try {
    bad = read_records(folder.string());
  } catch (const std::exception&) {
    bad.clear();  // it ended before its first row
  }
  std::erase_if(bad, [](const Record& record) {
    return record.status == Status::ok || record.status == Status::skipped;
  });
  failure.hung = !bad.empty() && bad.back().reason == kHungReason;
  if (failure.reason.empty() && !bad.empty()) {
    failure.reason =
        fmt::format("{} not right, first {}: {}, {}",
                    bad.size() == 1 ? "1 row is" : fmt::format("{} rows are", bad.size()),
                    bad.front().id, name(bad.front().status), bad.front().reason.value_or(""));
  }
}

// Wrong bits and faults of the device come before what the process said at its end.
void explain_soak(Failure& failure, const std::filesystem::path& folder, int code) {
  std::optional<SoakReport> report;
  try {
    report = read_soak(folder.string());
  } catch (const UsageError&) {
    return;  // it ended before its first event
  }
  failure.hung = !report->left_out().empty() && report->left_out().back().ends_with(kHungReason);
  if (code == int(ExitCode::row_failed) || code == int(ExitCode::regression)) {
    failure.reason = soak_failure(*report);
  }
}

}  // namespace

Failure failure_of(const NodeWork& work, const std::filesystem::path& folder, int code,
                   std::uintmax_t log_begin) {
  Failure failure{.reason = last_problem(folder / kLogFile, log_begin)};
  if (work.file == kSoakFile) {
    explain_soak(failure, folder, code);
  } else {
    explain_rows(failure, folder);
  }
  if (failure.reason.empty()) failure.reason = fmt::format("ended with code {}", code);
  return failure;
}

}  // namespace ridgebench::node
