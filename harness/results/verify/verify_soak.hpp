// Checks the folder of a soak.
#pragma once

#include <filesystem>

#include "harness/results/verify/checks.hpp"
#include "harness/results/verify/checksums.hpp"

namespace ridgebench {

// True if the folder holds a soak.
bool holds_soak(const std::filesystem::path& directory);

// Checks a soak. `problems` names a soak that did not finish and should have, and a file that was
// changed. `wrong` names the cases with wrong bits. If no case has any, it names the faults of the
// device and the cases that the soak left out. Throws UsageError for files that cannot be read or
// do not follow the schema.
Verified verify_soak(const std::filesystem::path& directory, Ending ending = Ending::whole);

}  // namespace ridgebench
