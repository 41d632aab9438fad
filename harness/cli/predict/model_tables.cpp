#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "harness/base/printable.hpp"
#include "harness/cli/predict/model.hpp"
#include "harness/cli/predict/output.hpp"
#include "harness/cli/text_table.hpp"
#include "roofline/json_text.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

// "qkv", "qkv dX"
std::string label_of(const ordered_json& row) {
  const auto& name = row["name"].get_ref<const std::string&>();
  const auto& pass = row["pass"].get_ref<const std::string&>();
  return pass == "forward" ? name : fmt::format("{} {}", name, pass);
}

// "8 of 1024 x 28672 x 4096 nt": the number of products, and M x N x K of each.
std::string product_of(const ordered_json& row) {
  const ordered_json& shape = row["shape"];
  if (shape.is_null()) return "";
  const auto products = row["products"].get<std::int64_t>();
  return fmt::format("{}{} x {} x {} {}", products > 1 ? fmt::format("{} of ", products) : "",
                     shape["m"].get<std::int64_t>(), shape["n"].get<std::int64_t>(),
                     shape["k"].get<std::int64_t>(), shape["layout"].get<std::string>());
}

std::string in_unit(const ordered_json& value, std::string_view unit) {
  return value.is_null() ? "-" : ridgebench::with_unit(value.get<double>(), unit);
}

std::string tokens_text(double tokens_per_s) {
  constexpr double kSmall = 1000;  // below, digits after the point count
  constexpr double kLarge = 1e6;   // from here on count_text rounds
  if (tokens_per_s >= kLarge) return count_text(tokens_per_s);
  return tokens_per_s < kSmall ? fmt::format("{:.4g}", tokens_per_s)
                               : fmt::format("{:.0f}", tokens_per_s);
}

std::string percent(const ordered_json& share) {
  return share.is_null() ? "-" : fmt::format("{:.1f} %", 100 * share.get<double>());
}

// The first row holds the heads of the columns. Times and work are those of one layer.
std::vector<Texts> table_of(const ordered_json& phase) {
  const ordered_json& rows = phase["operations"];
  const bool measured = std::ranges::any_of(
      rows, [](const ordered_json& row) { return !row["achieved_s"].is_null(); });
  std::vector<Texts> table{
      {"operation", "M x N x K", "layers", "FLOPs", "bytes", "FLOP/B", "bound", "time", "share"}};
  if (measured) table.front().emplace_back("achieved");
  for (const ordered_json& row : rows) {
    Texts cells{label_of(row),
                product_of(row),
                json_line(row["layers"]),
                in_unit(row["flops"], "FLOP"),
                in_unit(row["bytes"], "B"),
                row["intensity_flop_per_byte"].is_null()
                    ? "-"
                    : fmt::format("{:.4g}", row["intensity_flop_per_byte"].get<double>()),
                row["bound"].is_null() ? "-" : row["bound"].get<std::string>(),
                in_unit(row["time_lower_bound_s"], "s"),
                percent(row["share"])};
    if (measured) cells.push_back(in_unit(row["achieved_s"], "s"));
    table.push_back(std::move(cells));
  }
  return table;
}

std::string title_of(const ordered_json& phase) {
  return fmt::format("{}: batch {}, {} tokens", phase["phase"].get<std::string>(),
                     phase["batch"].get<std::int64_t>(), phase["tokens"].get<std::int64_t>());
}

Texts sums_of(const ordered_json& phase) {
  Texts sums{
      fmt::format("at best {} and {} tokens/s", in_unit(phase["time_lower_bound_s"], "s"),
                  tokens_text(phase["tokens_per_s"].get<double>())),
      fmt::format("linear operations of one layer: {}", in_unit(phase["layer_linear_s"], "s")),
      fmt::format("attention: {}", percent(phase["attention_share"]))};
  if (!phase["layer_linear_achieved_s"].is_null()) {
    sums[1] += fmt::format(", achieved {}", in_unit(phase["layer_linear_achieved_s"], "s"));
  }
  if (!phase["attention_achieved_s"].is_null()) {
    sums[2] +=
        fmt::format(", achieved {} of one layer", in_unit(phase["attention_achieved_s"], "s"));
  }
  if (!phase["kv_cache_bytes"].is_null()) {
    sums.push_back(fmt::format("KV cache: {}", in_unit(phase["kv_cache_bytes"], "B")));
  }
  if (!phase["state_bytes"].is_null()) {
    sums.push_back(fmt::format("state: {}, activations: {}", in_unit(phase["state_bytes"], "B"),
                               in_unit(phase["activation_bytes"], "B")));
  }
  if (!phase["fits"].is_null()) {
    sums.emplace_back(phase["fits"].get<bool>() ? "fits" : "does not fit");
  }
  return sums;
}

// Empty without ranks.
Texts links_of(const ordered_json& phase) {
  if (phase["communication_bytes"].is_null()) return {};
  std::string sent = fmt::format("a rank sends {}", in_unit(phase["communication_bytes"], "B"));
  if (!phase["link_time_s"].is_null()) {
    sent += fmt::format(", which takes {} on the link", in_unit(phase["link_time_s"], "s"));
  }
  Texts parts;
  for (const ordered_json& one : phase["communication"]) {
    parts.push_back(
        fmt::format("{} {}", one["name"].get<std::string>(), in_unit(one["bytes"], "B")));
  }
  return {fmt::format("{}: {}", sent, fmt::join(parts, ", "))};
}

Texts facts_of(const ordered_json& answer) {
  const auto all = answer["parameters"].get<double>();
  const auto active = answer["active_parameters"].get<double>();
  const std::string part =
      active < all ? fmt::format(" ({} of them active)", count_text(active)) : "";
  Texts facts{
      fmt::format("{} on {}, {}, context {}", printable(answer["model"].get<std::string>()),
                  printable(answer["device"].get<std::string>()),
                  answer["format"].get<std::string>(), answer["context"].get<std::int64_t>()),
      fmt::format(
          "parameters: {}{}, {}{}", count_text(all), part, in_unit(answer["weights_bytes"], "B"),
          answer["weights_format"].is_null()
              ? ""
              : fmt::format(" with weights in {}", answer["weights_format"].get<std::string>())),
      fmt::format("KV cache: {} per token", in_unit(answer["kv_cache_bytes_per_token"], "B"))};
  if (answer["ranks"].get<std::int64_t>() > 1) {
    facts.push_back(
        fmt::format("one of {} ranks of tensor parallelism", answer["ranks"].get<std::int64_t>()));
  }
  if (!answer["optimizer"].is_null()) {
    facts.push_back(fmt::format("training state: {} with {}",
                                answer["precision"].get<std::string>(),
                                answer["optimizer"].get<std::string>()));
  }
  if (!answer["largest_batch"].is_null()) {
    facts.push_back(fmt::format("largest batch in {}: {:.0f}", in_unit(answer["memory_bytes"], "B"),
                                answer["largest_batch"].get<double>()));
  }
  return facts;
}

// Why the numbers may be wrong, before them.
std::string warnings_text(const ordered_json& answer, std::string_view format, Shown shown) {
  std::string text;
  for (const ordered_json& warning : answer["warnings"]) {
    text += fmt::format(fmt::runtime(format), shown(warning.get<std::string>()));
  }
  return text;
}

constexpr std::array kAnswerColumns{"model", "device", "format", "context"};
constexpr std::array kPhaseColumns{"phase", "batch", "tokens"};
constexpr std::array kShapeColumns{"m", "n", "k", "layout"};
constexpr std::array kRowColumns{"name",     "role",
                                 "pass",     "layers",
                                 "products", "flops",
                                 "bytes",    "intensity_flop_per_byte",
                                 "bound",    "time_lower_bound_s",
                                 "share",    "achieved_s"};

}  // namespace

std::string model_text(const ordered_json& answer) {
  std::string text = warnings_text(answer, "warning: {}\n", printable);
  text += fmt::format("{}\n", fmt::join(facts_of(answer), "\n"));
  for (const ordered_json& phase : answer["phases"]) {
    text += fmt::format("\n{}\n{}{}\n", title_of(phase), padded_table(table_of(phase)),
                        fmt::join(sums_of(phase), "; "));
    for (const std::string& line : links_of(phase)) text += line + "\n";
  }
  return text + "\n" + notes_text(answer, "note: {}\n");
}

std::string model_markdown(const ordered_json& answer) {
  const Texts facts = facts_of(answer);
  std::string text = fmt::format("## {}\n\n", markdown_text(facts.front()));
  text += warnings_text(answer, "**Warning: {}.**\n\n", markdown_text);
  text += fmt::format("- {}\n", fmt::join(facts.begin() + 1, facts.end(), "\n- "));
  for (const ordered_json& phase : answer["phases"]) {
    text += fmt::format("\n### {}\n\n", title_of(phase));
    text += markdown_table(table_of(phase));
    text += fmt::format("\n- {}\n", fmt::join(sums_of(phase), "\n- "));
    for (const std::string& line : links_of(phase)) text += "- " + line + "\n";
  }
  return text + "\n" + notes_text(answer, "Note: {}.\n", markdown_text);
}

std::string model_csv(const ordered_json& answer) {
  Texts heads;
  for (const auto* key : kAnswerColumns) heads.emplace_back(key);
  for (const auto* key : kPhaseColumns) heads.emplace_back(key);
  for (const auto* key : kShapeColumns) heads.emplace_back(key);
  for (const auto* key : kRowColumns) heads.emplace_back(key);
  std::string text = fmt::format("{}\n", fmt::join(heads, ","));
  for (const ordered_json& phase : answer["phases"]) {
    for (const ordered_json& row : phase["operations"]) {
      Texts cells;
      for (const auto* key : kAnswerColumns) cells.push_back(csv_cell(answer[key]));
      for (const auto* key : kPhaseColumns) cells.push_back(csv_cell(phase[key]));
      const ordered_json& shape = row["shape"];
      for (const auto* key : kShapeColumns) {
        cells.push_back(shape.is_null() ? "" : csv_cell(shape[key]));
      }
      for (const auto* key : kRowColumns) cells.push_back(csv_cell(row[key]));
      text += fmt::format("{}\n", fmt::join(cells, ","));
    }
  }
  return text;
}

}  // namespace ridgebench
