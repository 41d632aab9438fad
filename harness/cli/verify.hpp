// The checks of `verify`, which `publish` makes too.
#pragma once

#include <string>
#include <vector>

namespace ridgebench {

// One line for each thing that is not sound in a folder of rows, duels or a step. Throws UsageError
// for a folder that cannot be read.
std::vector<std::string> problems_of_results(const std::string& directory);

}  // namespace ridgebench
