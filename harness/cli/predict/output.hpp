// How an answer of `predict` is printed: as text, JSON, CSV or Markdown.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/printable.hpp"

namespace ridgebench {

class OutputOptions {
 public:
  using Writer = std::function<std::string(const nlohmann::ordered_json&)>;

  // Adds --json, --csv and --md. This object must outlive the command.
  void add_to(CLI::App& command, const char* csv_help);

  // `name` is that of the schema of the JSON.
  void print(std::string_view name, const nlohmann::ordered_json& answer, const Writer& text,
             const Writer& csv, const Writer& markdown) const;

  // True if the answer is CSV, which has no place for words about it.
  [[nodiscard]] bool csv() const { return csv_; }

 private:
  bool json_ = false;
  bool csv_ = false;
  bool markdown_ = false;
};

// One prediction (roofline/prediction.hpp). CSV has its keys as columns, and the shape as text.
std::string prediction_text(const nlohmann::ordered_json& prediction);
std::string prediction_csv(const nlohmann::ordered_json& prediction);
std::string prediction_markdown(const nlohmann::ordered_json& prediction);

// A heading of CSV and a line for each prediction, all of the same keys.
std::string csv_of(const std::vector<nlohmann::ordered_json>& predictions);

// The notes of an answer, each printed by a format with one place: "note: {}\n". `shown` makes the
// text of a file harmless there: printable or markdown_text.
using Shown = std::string (*)(std::string_view);
std::string notes_text(const nlohmann::ordered_json& answer, std::string_view format,
                       Shown shown = printable);

// "m:1/n:8/k:8/layout:nt", from the sizes of an answer.
std::string shape_text(const nlohmann::ordered_json& sizes);

}  // namespace ridgebench
