// The checks of `verify`, which `publish` makes too.
#pragma once

#include <string>
#include <vector>

#include "harness/results/verify/checks.hpp"

namespace ridgebench {

inline constexpr const char* kSoundFolderHelp = "Results folder, or the folder of a node or fleet";

// Checks a folder with rows, duels, a step or a soak, or a tree of such folders
// (harness/results/verify/results_tree.hpp). A line or a file that does not follow its format is
// not sound. `wrong` names wrong bits of a soak, rows with a wrong result, and GPUs of a node that
// others outvote; each such line begins with the folder. Throws UnreadableFile for a file or a
// folder that cannot be read.
Verified check_results(const std::string& directory);

// Returns a line for each pass of a node that is not done, and for each counter of faults that
// grew, in sound results. Each line begins with the folder.
std::vector<std::string> findings_of_results(const std::string& directory);

}  // namespace ridgebench
