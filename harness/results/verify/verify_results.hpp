// Checks a results directory: does it say what its samples, its operations and physics say?
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/results/verify/checksums.hpp"

namespace ridgebench {

// One line per problem, empty for a sound directory: checksums, arithmetic (work from the
// operation, summaries from the samples, rates from both), verification and physics of every row.
// Throws UsageError for files that cannot be read or do not follow the schema.
std::vector<std::string> verify_results(const std::filesystem::path& directory,
                                        Ending ending = Ending::whole);

}  // namespace ridgebench
