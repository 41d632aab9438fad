// Google Benchmark's flags and formats around our own loop. Its tools read what this writes.
#pragma once

#include <string>
#include <vector>

#include "harness/results/record.hpp"

namespace ridgebench {

// What --benchmark_* flags set; the defaults are Google Benchmark's.
struct GoogleFlags {
  std::string filter;       // regular expression on ids; empty: none given
  bool list_tests = false;  // print the ids and stop
  // console: our own table; json, csv: Google Benchmark's, on stdout.
  std::string format = "console";
  std::string out;  // file that gets a copy; empty: none
  std::string out_format = "json";
  std::string color = "auto";  // auto, true or false; our own table has no colours
};

// Reads arguments of the form --benchmark_name=value. Throws UsageError for any other, and for a
// flag that our own sampling replaces.
GoogleFlags parse_google_flags(const std::vector<std::string>& arguments);

// The records as Google Benchmark's reporter for `format` (console, json or csv) prints them: one
// run per record, named by its id, with its median time in microseconds.
std::string google_report(const std::vector<Record>& records, const std::string& format);

}  // namespace ridgebench
