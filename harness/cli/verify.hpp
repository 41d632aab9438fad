// The checks of `verify`, which `publish` makes too.
#pragma once

#include <string>
#include <vector>

namespace ridgebench {

inline constexpr const char* kSoundFolderHelp = "Results folder, or the folder of a node or fleet";

// Returns one line for each thing that is not sound. The folder holds rows, duels, a step or a
// soak, or it is a tree of such folders (harness/results/verify/results_tree.hpp). A line or a file
// that does not follow its format is not sound. Throws UnreadableFile for what cannot be read.
std::vector<std::string> problems_of_results(const std::string& directory);

// Returns a line for each thing that soaks found in sound results, such as wrong bits. Each line
// begins with the folder of the soak.
std::vector<std::string> found_by_soaks(const std::string& directory);

// Returns a line for each pass of a node that is not done, and for each counter of faults that
// grew, in sound results. Each line begins with the folder.
std::vector<std::string> findings_of_results(const std::string& directory);

}  // namespace ridgebench
