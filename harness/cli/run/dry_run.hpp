// Output of `run --dry-run`.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "harness/measure/campaign.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

// Prints the cases, their bytes, the run's time, and which cases the run would skip and why; with
// an environment (environment.hpp), both as strict JSON. Returns the exit code of a run whose other
// rows are well.
ExitCode print_dry_run(const RunPlan& plan,
                       const std::optional<nlohmann::ordered_json>& environment);

}  // namespace ridgebench
