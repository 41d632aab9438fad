// Reads Google Benchmark's flags and writes its formats, so that its tools read our results.
#pragma once

#include <string>
#include <vector>

#include "harness/results/record.hpp"

namespace ridgebench {

// The values of the --benchmark_* flags. The defaults are those of Google Benchmark.
struct GoogleFlags {
  std::string filter;       // regular expression on ids; empty: no filter
  bool list_tests = false;  // print the ids and stop
  // console prints our table on stdout; json and csv print Google Benchmark's formats.
  std::string format = "console";
  std::string out;  // file for a copy; empty: no copy
  std::string out_format = "json";
  std::string color = "auto";  // of our table: auto, true or false
};

// Reads arguments of the form --benchmark_name=value. Throws UsageError for other arguments and for
// flags of Google Benchmark's sampling, which our sampling replaces.
GoogleFlags parse_google_flags(const std::vector<std::string>& arguments);

// Returns the text that Google Benchmark's reporter for `format` (console, json or csv) prints.
// Each record is one run with the record's id as its name and the median time in microseconds.
std::string google_report(const std::vector<Record>& records, const std::string& format);

// The file of a results folder that has the report of its rows as JSON.
inline constexpr const char* kReportFile = "benchmark.json";
// Returns its text. It lacks the rows that were skipped, which Google Benchmark's tools cannot
// compare; records.jsonl holds them.
std::string report_of_rows(std::vector<Record> records);

}  // namespace ridgebench
