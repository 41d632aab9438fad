// Output of `info --peaks`: the table of all data sheets, for programs that need no other part of
// ridgebench.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ridgebench {

// Returns {"version", "devices": [...]}, each device as in `info --on`; results/schema has the
// schema `peaks`.
nlohmann::ordered_json peak_table();

// Returns the same as a header in C99: a constant array of devices, each with its peaks.
std::string peak_header();

}  // namespace ridgebench
