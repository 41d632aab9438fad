#include "harness/results/verify/checksums.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>

#include "harness/base/checksum.hpp"
#include "harness/results/files/whole_file.hpp"
#include "harness/results/results_directory.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

constexpr std::string_view kGap = "  ";  // between checksum and name

std::string why_missing(const std::filesystem::path& directory) {
  std::error_code unknown;
  const auto holds = [&](std::string_view file) {
    return std::filesystem::exists(directory / file, unknown);
  };
  if (holds(kDuelsFile)) return "the duels did not finish";
  if (holds(kStepFile)) return "the step did not finish";
  if (holds(kSoakFile)) return "the soak did not finish";
  return "the run did not finish; --resume can";
}

}  // namespace

void write_sums(const std::filesystem::path& folder, std::span<const std::string> files) {
  std::string sums;
  for (const std::string& name : files) {
    sums += fmt::format("{}{}{}\n", sha256_of_file(folder / name), kGap, name);
  }
  write_atomically(folder / kSumsFile, sums);
}

std::vector<std::string> sums_problems(const std::filesystem::path& folder,
                                       std::span<const std::string> files) {
  std::vector<std::string> problems;
  std::istringstream sums(read_file((folder / kSumsFile).string()));
  std::set<std::string> listed;
  std::error_code ignored;  // a file without access counts as missing
  for (std::string line; std::getline(sums, line);) {
    const std::size_t gap = line.find(kGap);
    const std::string name = gap == std::string::npos ? line : line.substr(gap + kGap.size());
    listed.insert(name);
    if (!std::filesystem::is_regular_file(folder / name, ignored)) {
      problems.push_back(fmt::format("{} is missing", name));
    } else if (sha256_of_file(folder / name) != line.substr(0, gap)) {
      problems.push_back(fmt::format("{} is not what the run wrote: its checksum differs", name));
    }
  }
  for (const std::string& file : files) {
    if (!listed.contains(file)) {
      problems.push_back(fmt::format("{} does not list {}", kSumsFile, file));
    }
  }
  return problems;
}

std::vector<std::string> checked_files(const std::filesystem::path& directory) {
  std::vector<std::string> files;
  std::error_code unknown;
  for (const char* name : kChecked) {
    if (std::filesystem::exists(directory / name, unknown)) files.emplace_back(name);
  }
  return files;
}

std::vector<std::string> checksum_problems(const std::filesystem::path& directory, Ending ending) {
  std::error_code unknown;
  if (!std::filesystem::exists(directory / kSumsFile, unknown)) {
    if (ending == Ending::open) return {};
    return {fmt::format("{} is missing: {}", kSumsFile, why_missing(directory))};
  }
  return sums_problems(directory, checked_files(directory));
}

}  // namespace ridgebench
