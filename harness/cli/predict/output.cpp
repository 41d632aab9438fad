#include "harness/cli/predict/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/base/printable.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/text_table.hpp"
#include "roofline/json_text.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

// The part of a key that is its unit, and that unit as people write it.
struct Unit {
  std::string_view suffix;
  std::string_view text;
};
constexpr std::array kUnits{Unit{"_flop_per_byte", "FLOP/B"}, Unit{"_flops_per_s", "FLOP/s"},
                            Unit{"_bytes_per_s", "B/s"}, Unit{"_s", "s"}};

std::string value_text(const std::string& key, const ordered_json& value, std::string_view unit) {
  if (value.is_null()) return "unknown";
  if (value.is_string()) return printable(value.get<std::string>());
  if (key == "shape") return shape_text(value);
  const double number = value.get<double>();
  if (key == "flops") return with_unit(number, "FLOP");
  if (key == "bytes") return with_unit(number, "B");
  if (key == "mfu_bound") return fmt::format("{:.3g} %", 100 * number);
  return with_unit(number, unit);
}

// A label and its value for each key but the notes.
std::vector<Texts> lines_of(const ordered_json& prediction) {
  std::vector<Texts> lines;
  for (const auto& [key, value] : prediction.items()) {
    if (key == "notes" || (key == "launch_floor_s" && value.is_null())) continue;
    const auto unit = std::ranges::find_if(
        kUnits, [&name = key](const Unit& u) { return name.ends_with(u.suffix); });
    const bool known = unit != kUnits.end();
    std::string label = known ? key.substr(0, key.size() - unit->suffix.size()) : key;
    std::ranges::replace(label, '_', ' ');
    lines.push_back({label, value_text(key, value, known ? unit->text : "")});
  }
  return lines;
}

std::vector<std::string> notes_of(const ordered_json& prediction) {
  std::vector<std::string> notes;
  for (const auto& note : prediction["notes"]) {
    notes.push_back(printable(note.get<std::string>()));
  }
  return notes;
}

}  // namespace

std::string shape_text(const ordered_json& sizes) {
  std::string text;
  for (const auto& [dimension, size] : sizes.items()) {
    std::string value = size.is_string() ? size.get<std::string>() : json_line(size);
    // An attribute, as an id has it: skew:1.
    if (size.is_number_float()) value = fmt::format("{}", size.get<double>());
    text += fmt::format("{}{}:{}", text.empty() ? "" : "/", dimension, value);
  }
  return text;
}

std::string notes_text(const ordered_json& answer, std::string_view format, Shown shown) {
  std::string text;
  for (const ordered_json& note : answer["notes"]) {
    text += fmt::format(fmt::runtime(format), shown(note.get<std::string>()));
  }
  return text;
}

std::string prediction_text(const ordered_json& prediction) {
  std::string text;
  for (const Texts& line : lines_of(prediction)) {
    text += fmt::format("{:<22} {}\n", line[0], line[1]);
  }
  return text + notes_text(prediction, "note: {}\n");
}

std::string prediction_markdown(const ordered_json& prediction) {
  std::vector<Texts> table{{"key", "value"}};
  for (Texts& line : lines_of(prediction)) table.push_back(std::move(line));
  return markdown_table(table) + notes_text(prediction, "\nNote: {}.\n", markdown_text);
}

std::string csv_of(const std::vector<ordered_json>& predictions) {
  Texts heads;
  for (const auto& [key, value] : predictions.front().items()) heads.push_back(key);
  std::string text = fmt::format("{}\n", fmt::join(heads, ","));
  for (const ordered_json& prediction : predictions) {
    Texts cells;
    for (const auto& [key, value] : prediction.items()) {
      if (key == "shape") {
        cells.push_back(csv_cell(shape_text(value)));
      } else if (key == "notes") {
        cells.push_back(csv_cell(fmt::format("{}", fmt::join(notes_of(prediction), "; "))));
      } else {
        cells.push_back(csv_cell(value));
      }
    }
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

std::string prediction_csv(const ordered_json& prediction) { return csv_of({prediction}); }

void OutputOptions::add_to(CLI::App& command, const char* csv_help) {
  CLI::Option* json = command.add_flag("--json", json_, "Print strict JSON");
  CLI::Option* csv = command.add_flag("--csv", csv_, csv_help);
  command.add_flag("--md", markdown_, "Print tables in Markdown")->excludes(json)->excludes(csv);
  csv->excludes(json);
}

void OutputOptions::print(std::string_view name, const ordered_json& answer, const Writer& text,
                          const Writer& csv, const Writer& markdown) const {
  if (json_) {
    print_answer(name, answer);
  } else if (csv_) {
    fmt::print("{}", csv(answer));
  } else if (markdown_) {
    fmt::print("{}", markdown(answer));
  } else {
    fmt::print("{}", text(answer));
  }
}

}  // namespace ridgebench
