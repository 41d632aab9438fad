#include "harness/results/verify/checksums.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>

#include "harness/base/checksum.hpp"
#include "harness/results/results_directory.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {

std::vector<std::string> checksum_problems(const std::filesystem::path& directory) {
  std::vector<std::string> problems;
  const std::filesystem::path path = directory / "SHA256SUMS";
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) {
    const auto holds = [&](std::string_view file) {
      return std::filesystem::exists(directory / file, unknown);
    };
    problems.emplace_back(holds(kDuelsFile) ? "SHA256SUMS is missing: the duels did not finish"
                          : holds(kStepFile)
                              ? "SHA256SUMS is missing: the step did not finish"
                              : "SHA256SUMS is missing: the run did not finish; --resume can");
    return problems;
  }
  std::istringstream sums(read_file(path.string()));
  std::string expected;
  std::string name;
  std::set<std::string> listed;
  std::error_code ignored;  // a file without access counts as missing
  while (sums >> expected >> name) {
    listed.insert(name);
    if (!std::filesystem::is_regular_file(directory / name, ignored)) {
      problems.push_back(fmt::format("{} is missing", name));
    } else if (sha256_of_file(directory / name) != expected) {
      problems.push_back(fmt::format("{} is not what the run wrote: its checksum differs", name));
    }
  }
  for (const char* file : kChecked) {
    if (!listed.contains(file) && std::filesystem::exists(directory / file, ignored)) {
      problems.push_back(fmt::format("SHA256SUMS does not list {}", file));
    }
  }
  return problems;
}

}  // namespace ridgebench
