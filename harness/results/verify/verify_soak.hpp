// Checks the folder of a soak.
#pragma once

#include <filesystem>

#include "harness/results/verify/checks.hpp"
#include "harness/results/verify/checksums.hpp"

namespace ridgebench {

// True if the folder holds a soak.
bool holds_soak(const std::filesystem::path& directory);

// Problems, whatever the soak found: a soak that did not finish and should have, a file that was
// changed. Wrong are the cases with wrong bits. If no case has any, the faults of the device are,
// and the cases that the soak left out. Throws UsageError for files that cannot be read or do not
// follow the schema.
Verified verify_soak(const std::filesystem::path& directory, Ending ending = Ending::whole);

}  // namespace ridgebench
