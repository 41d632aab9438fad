// The loop of `run`: measures case after case, shows the progress, and reports.
#pragma once

#include "harness/cli/google_benchmark.hpp"
#include "harness/measure/campaign.hpp"

namespace ridgebench {

// Measures all cases, then prints the table or what `flags` ask for and writes DIR/benchmark.json.
// A case that ends the run does so after the finished ones are reported: this rethrows what it
// threw. Throws StorageError.
void run_cases(Campaign& campaign, const ResultsDirectory& directory, const GoogleFlags& flags);

}  // namespace ridgebench
