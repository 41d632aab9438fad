// Continues a run that was interrupted. Only the same program on the same host and devices, with
// the same variables, may: the earlier rows and the new ones share one environment.json.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/results/environment.hpp"
#include "harness/results/record.hpp"

namespace ridgebench {

// The rows that `run --resume --retry` measures again.
inline constexpr std::initializer_list<Status> kRetried{Status::failed, Status::suspect};

// The request of the run in the folder. Throws UsageError.
RunRequest read_request(const std::string& results_directory);

// Throws UsageError unless `--load` named the files of the run in the folder, by their checksums.
void require_same_kernels(const std::string& results_directory);

// Turns `environment`, of this process, into that of the run in the folder: it keeps what was read
// at the run's beginning, and `resumed` lists when the run was taken up again. Throws UsageError
// that names what differs.
void continue_run(nlohmann::ordered_json& environment, const std::string& results_directory);

}  // namespace ridgebench
