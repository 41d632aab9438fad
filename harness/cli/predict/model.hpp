// `ridgebench predict model`: a transformer on a device, before it runs.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace ridgebench {

// Adds the sub-command to `predict`. Its callback throws UsageError.
void add_predict_model_command(CLI::App& predict);

// The answer of predict_transformer as text for people, as CSV with a line for each operation, and
// as tables in Markdown. CSV has the keys of the JSON as columns.
std::string model_text(const nlohmann::ordered_json& answer);
std::string model_csv(const nlohmann::ordered_json& answer);
std::string model_markdown(const nlohmann::ordered_json& answer);

}  // namespace ridgebench
