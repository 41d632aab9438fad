#include "harness/cli/node/reason.hpp"

#include <fmt/format.h>

#include <fstream>

#include "harness/base/printable.hpp"
#include "harness/results/outcome.hpp"
#include "harness/results/record.hpp"

namespace ridgebench::node {
namespace {

constexpr std::string_view kProblem = "ridgebench: ";

// The last line by which the program named a problem.
std::string last_problem(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kProblem)) last = line.substr(kProblem.size());
  }
  return printable(last);
}

}  // namespace

Failure failure_of(const std::filesystem::path& folder, int code) {
  Failure failure{.reason = last_problem(folder / "log.txt")};
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
  if (failure.reason.empty()) failure.reason = fmt::format("ended with code {}", code);
  return failure;
}

}  // namespace ridgebench::node
