// Google Benchmark as the front end: its flags, console and JSON. The sampling is ours; to Google
// Benchmark every row is one iteration with a manual time.
#pragma once

#include <vector>

#include "harness/measure/campaign.hpp"
#include "harness/cli/google_flags.hpp"

namespace ridgebench {

// Runs all rows, then writes DIR/benchmark.json and what `flags` ask for, and prints the table or
// Google Benchmark's own format. Throws StorageError, and rethrows what stopped the run early; all
// finished rows are kept and reported.
void run_benchmarks(Campaign& run, const ResultsDirectory& directory, const GoogleFlags& flags);

// Prints the names of the rows, as --benchmark_list_tests does.
void list_benchmarks(const std::vector<Case>& rows);

}  // namespace ridgebench
