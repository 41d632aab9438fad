// Tables of texts: in columns for people, in Markdown, and cells of CSV.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ridgebench {

using Texts = std::vector<std::string>;

// Each takes a table whose first row holds the heads. Names stand at the left of the first column,
// numbers at the right of the others. Cells are printed as they are: texts from files have passed
// `printable`.
std::string padded_table(const std::vector<Texts>& table);
std::string markdown_table(const std::vector<Texts>& table);

// Returns a text of a file for a page in Markdown, as one printable line that is only text there.
std::string markdown_text(std::string_view text);

// Returns a value as a cell of CSV (RFC 4180); null is empty. Texts pass `printable`, and an
// apostrophe keeps a spreadsheet from taking one for a formula.
std::string csv_cell(const nlohmann::ordered_json& value);

}  // namespace ridgebench
