// Google Benchmark as the front end: its flags, console and JSON. The sampling is ours; to Google
// Benchmark every row is one iteration with a manual time.
#pragma once

#include <string>
#include <vector>

#include "harness/campaign.hpp"

namespace ridgepoint {

// Runs all rows and writes DIR/benchmark.json. `flags` are --benchmark_* arguments; filtering is
// the plan's business. Rethrows what stopped the run early; all finished rows are kept and
// reported.
void run_benchmarks(Campaign& run, const ResultsDirectory& directory,
                    std::vector<std::string> flags);

// Prints the names of the rows, as --benchmark_list_tests does.
void list_benchmarks(const std::vector<Row>& rows);

// Throws UsageError for flags that our own sampling replaces; takes the filter out of the flags.
std::string take_filter(std::vector<std::string>& flags);

// Whether such a flag is among them; --benchmark_list_tests alone means true.
bool has_flag(const std::vector<std::string>& flags, std::string_view name);

}  // namespace ridgepoint
