// Goes on with a run that was interrupted: only the same program on the same devices may, since its
// rows and the new ones share one environment.json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ridgebench {

// Makes `environment`, of this process, that of the run in the folder: it keeps the run's id,
// command line, beginning and devices, and `resumed` lists when it was taken up again. Throws
// UsageError that names what differs.
void continue_run(nlohmann::ordered_json& environment, const std::string& results_directory);

}  // namespace ridgebench
