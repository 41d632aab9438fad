// The loop of `run` measures the cases, shows the progress and reports.
#pragma once

#include "harness/cli/google_benchmark.hpp"
#include "harness/measure/campaign.hpp"

namespace ridgebench {

// Value of GoogleFlags::format for `run --json`, which prints our rows.
inline constexpr const char* kRowsFormat = "rows";

// Measures all cases, prints the table or the format in `flags`, and writes DIR/benchmark.json and,
// where `junit` names a file, JUnit's XML. If a case throws, the function reports the finished
// cases and rethrows. Throws StorageError.
void run_cases(Campaign& campaign, const ResultsDirectory& directory, const GoogleFlags& flags,
               const std::string& junit);

}  // namespace ridgebench
