// Tables of texts: in columns for people, in Markdown, and cells of CSV.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ridgebench {

using Texts = std::vector<std::string>;

// Each takes a table whose first row holds the heads. Names stand at the left of the first column,
// numbers at the right of the others. Cells are printed as they are: texts from files have passed
// `printable`.
std::string padded_table(const std::vector<Texts>& table);
std::string markdown_table(const std::vector<Texts>& table);

// Returns a value as a cell of CSV (RFC 4180); null is empty. Texts pass `printable`.
std::string csv_cell(const nlohmann::ordered_json& value);

}  // namespace ridgebench
