// The flags of Google Benchmark that mean something here.
#pragma once

#include <string>
#include <vector>

namespace ridgebench {

// What --benchmark_* flags set; the defaults are Google Benchmark's.
struct GoogleFlags {
  std::string filter;       // regular expression on ids; empty: none given
  bool list_tests = false;  // print the ids and stop
  std::string format =
      "console";    // console: our own table; json, csv: Google Benchmark's, on stdout
  std::string out;  // file that gets a copy; empty: none
  std::string out_format = "json";
  std::string color = "auto";  // auto, true or false; our own table has no colours
};

// Reads arguments of the form --benchmark_name=value. Throws UsageError for any other, and for a
// flag that our own sampling replaces.
GoogleFlags parse_google_flags(const std::vector<std::string>& arguments);

}  // namespace ridgebench
