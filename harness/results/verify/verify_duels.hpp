// Checks a folder of duels: does each verdict follow from its log ratios?
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ridgebench {

// True if the folder holds duels and not the rows of a run.
bool holds_duels(const std::filesystem::path& directory);

// One line per problem, empty for a sound folder: checksums, work from the operation, ratios,
// intervals and verdicts from the log ratios, and the verification of both techniques. Throws
// UsageError for files that cannot be read or do not follow the schema.
std::vector<std::string> verify_duels(const std::filesystem::path& directory);

}  // namespace ridgebench
