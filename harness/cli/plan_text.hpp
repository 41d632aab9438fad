// `ridgebench plan train|memory|tensor|activations|zero`: resource accounting.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "roofline/plan/plan.hpp"

namespace ridgebench {

// Adds the sub-command with its five questions. Each prints its answer to stdout when parsed: a
// table, or strict JSON with --json. Its callbacks throw UsageError.
void add_plan_command(CLI::App& app);

// The answer as a table: what was given, the terms, the result.
std::string plan_text(const PlanAnswer& answer);

}  // namespace ridgebench
