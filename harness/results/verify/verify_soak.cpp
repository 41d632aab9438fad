#include "harness/results/verify/verify_soak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/results/files/results_files.hpp"
#include "harness/results/soak_report.hpp"
#include "roofline/json_object.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

std::vector<std::string> wrong_things(const SoakReport& report) {
  std::vector<std::string> found;
  for (const SoakCount& count : report.counts()) {
    if (count.mismatches > 0) {
      found.push_back(fmt::format("{}: {} with wrong bits", count.id,
                                  counted(static_cast<std::size_t>(count.mismatches), "launch")));
    }
  }
  if (found.empty() && report.exit_code() == ExitCode::row_failed) {
    for (const std::string& fault : report.faults()) found.push_back(fault);
    for (const std::string& what : report.left_out()) found.push_back("left out " + what);
  }
  return found;
}

}  // namespace

bool holds_soak(const std::filesystem::path& directory) {
  std::error_code unknown;
  return std::filesystem::exists(directory / kSoakFile, unknown);
}

Verified verify_soak(const std::filesystem::path& directory, Ending ending) {
  const std::string facts = (directory / "environment.json").string();
  std::vector<std::string> problems;
  const nlohmann::json environment = parse_json(read_file(facts), facts);
  check_provenance(environment, problems);
  const SoakReport report = read_soak(directory.string());
  for (const std::string& line : report.misplaced()) {
    problems.push_back(fmt::format("{}: {}", kSoakFile, line));
  }
  if (!report.device().empty() && !listed_devices(environment, facts).contains(report.device())) {
    problems.push_back(fmt::format("{}: the device is {}, which environment.json does not list",
                                   kSoakFile, report.device()));
  }
  if (report.finished() && ending == Ending::whole) {
    check_end(directory, environment, kSoakFile, problems);
  }
  std::ranges::move(checksum_problems(directory, ending), std::back_inserter(problems));
  if (!report.finished() && ending == Ending::whole) {
    problems.emplace_back("the soak did not finish");
  }
  return {.problems = std::move(problems), .wrong = wrong_things(report)};
}

}  // namespace ridgebench
