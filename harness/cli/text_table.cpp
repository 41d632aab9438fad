#include "harness/cli/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/printable.hpp"
#include "harness/cli/print_json.hpp"

namespace ridgebench {

std::string padded_table(const std::vector<Texts>& table) {
  std::vector<std::size_t> widths(table.front().size());
  for (const Texts& cells : table) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  for (const Texts& cells : table) {
    text += fmt::format("{:<{}}", cells[0], widths[0]);
    for (std::size_t i = 1; i < cells.size(); ++i) {
      text += fmt::format("  {:>{}}", cells[i], widths[i]);
    }
    text += '\n';
  }
  return text;
}

std::string markdown_table(const std::vector<Texts>& table) {
  std::string text;
  for (const Texts& cells : table) {
    text += fmt::format("| {} |\n", fmt::join(cells, " | "));
    if (&cells != &table.front()) continue;
    for (std::size_t i = 0; i < cells.size(); ++i) text += i == 0 ? "| ---" : " | ---:";
    text += " |\n";
  }
  return text;
}

std::string markdown_text(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*[]<>|#~&").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string csv_cell(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return json_text(value);
  std::string text = printable(value.get<std::string>());
  // Characters that begin a formula, as in exchange/export/text.py.
  if (text.find_first_of("=+-@") == 0) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '"');
  }
  return '"' + text + '"';
}

}  // namespace ridgebench
