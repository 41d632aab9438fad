// Conditions that may falsify all rows of a run, by the rules of `doctor`. `run` prints them before
// the first row and records it in environment.json (`conditions`), where comparisons read it.
#pragma once

#include <string>

#include "harness/cli/doctor/finding.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/worn.hpp"

namespace ridgebench::doctor {

// Judges the keys load_average, threads, governors and event_tick_s of a host.
void judge_conditions(const Facts& host, double most_load, Judge& judge);

// The findings on a host among the devices of a run, and on the fill of its inputs.
Findings conditions_of(Fill fill, const MachineFacts& machine);

// Adds the code and the text of each to environment.json. A resumed run keeps those of before.
void add_conditions(nlohmann::ordered_json& environment, const Findings& findings);

// All texts as one line; empty without a finding.
std::string text_of_conditions(const Findings& findings);

}  // namespace ridgebench::doctor
