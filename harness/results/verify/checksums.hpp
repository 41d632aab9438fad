// Compares the files of a results folder with its SHA256SUMS.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ridgebench {

// One line for each file that is missing, changed or not listed. Throws UsageError for a file that
// cannot be read.
std::vector<std::string> checksum_problems(const std::filesystem::path& directory);

}  // namespace ridgebench
