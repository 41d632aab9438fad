// The rules of a fleet in a file: what the owner wants of each model of GPU, as JSON.
//   {"NVIDIA H200": {"power_limit_w": 700, "driver": "580.", "ecc": true, "nvlinks": 18}, "*": {}}
// docs/operate/fleet.md has the keys. `fleet report` judges the key `rates`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/cli/doctor/finding.hpp"

namespace ridgebench::doctor {

// Reads and checks a file of rules. Throws UsageError, which lists the keys if one is unknown.
Facts read_rules(const std::string& path);

// Adds a warning for each key of the rules of the GPU's model, else of "*", that the GPU breaks,
// and a note for one that cannot be checked.
void judge_rules(const Facts& rules, const Facts& gpu, Judge& judge);

}  // namespace ridgebench::doctor
