// Checks a folder of a measured step: do its numbers follow from its samples, its sizes and its
// parts?
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ridgebench {

// One line per problem, empty for a sound folder: checksums, memory and FLOPs from the sizes, times
// from the samples and the parts, and the verification. Throws UsageError for files that cannot be
// read or do not follow the schema.
std::vector<std::string> verify_step(const std::filesystem::path& directory);

}  // namespace ridgebench
