#include "harness/results/files/results_files.hpp"

#include <fmt/format.h>

#include <system_error>

#include "kernels/common/error.hpp"

namespace ridgebench {

void require_run(const std::filesystem::path& directory) {
  std::error_code error;
  if (exists(directory / kRecordsFile, error)) return;
  for (const ResultsFile& other : kResultsFiles) {
    if (other.name == kRecordsFile || !exists(directory / other.name, error)) continue;
    throw UsageError(fmt::format("{} holds {}; allowed: a folder that `ridgebench run` wrote",
                                 directory.string(), other.holds));
  }
}

}  // namespace ridgebench
