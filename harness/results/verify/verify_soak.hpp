// Checks the folder of a soak.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/results/verify/checksums.hpp"

namespace ridgebench {

// True if the folder holds a soak.
bool holds_soak(const std::filesystem::path& directory);

// Returns a line for each case with wrong bits. If no case has any, the lines name the faults of
// the device and the cases that the soak left out. Throws UsageError as verify_soak() does.
std::vector<std::string> found_by_soak(const std::filesystem::path& directory);

// One line for each thing that is not sound, whatever the soak found: a soak that did not finish
// and should have, a file that was changed. Throws UsageError for files that cannot be read
// or do not follow the schema.
std::vector<std::string> verify_soak(const std::filesystem::path& directory,
                                     Ending ending = Ending::whole);

}  // namespace ridgebench
