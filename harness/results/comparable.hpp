// Decides if the rows of one run may be judged by the ceilings of another. `compare` has the same
// rule (roofline/ridgebench/judge/comparable.json), and its words for a difference.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ridgebench {

// Returns the differences of two environment.json for which the runs must not be compared: keys of
// the program and the request, of devices that both have, and variables that change results. A
// device of the same model in another machine differs, too: by its UUID, or by its host's name.
// Each text names both values: "threads: 2 against 1".
std::vector<std::string> differences(const nlohmann::ordered_json& one,
                                     const nlohmann::ordered_json& other);

}  // namespace ridgebench
