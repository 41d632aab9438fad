#include "harness/cli/plan/text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/plan/bar.hpp"
#include "harness/cli/text_table.hpp"
#include "roofline/json_text.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

// Vendors state memory sizes in powers of ten, and frameworks count tensors in MiB.
std::string bytes_text(double bytes) {
  constexpr double kMiB = 1048576;
  if (bytes == 1) return "1 byte";
  if (bytes < 1e6) return fmt::format("{:.6g} bytes", bytes);
  return fmt::format("{} ({:.6g} MiB)", with_unit(bytes, "B"), bytes / kMiB);
}

// Bills count energy in kWh.
std::string energy_text(double joules) {
  constexpr double kKilowattHour = 3.6e6;
  const double hours = joules / kKilowattHour;
  if (hours < 1e3) return fmt::format("{:.4g} kWh", hours);
  return hours < 1e6 ? fmt::format("{:.4g} MWh", hours / 1e3)
                     : fmt::format("{:.4g} GWh", hours / 1e6);
}

// A number without a prefix: its digits after the point count as long as it is small, and those
// before the point up to `forever`.
std::string whole_text(double value, double forever = 1e15) {
  constexpr double kSmall = 1000;
  if (value < kSmall || value >= forever) return fmt::format("{:.4g}", value);
  return fmt::format("{:.0f}", value);
}

std::string quantity(double value, std::string_view unit) {
  if (unit == "J") return energy_text(value);
  if (unit == "hour") return whole_text(value) + " hours";
  if (unit == "money") return whole_text(value) + ", in the currency of the price";
  if (unit == "share") return fmt::format("{:.4g} ({:.4g} %)", value, 100 * value);
  if (unit == "byte") return bytes_text(value);
  if (unit == "byte/s") return with_unit(value, "B/s");
  if (unit == "day") return whole_text(value, 1e9) + " days";
  if (unit == "parameters") return fmt::format("{} parameters", count_text(value));
  if (unit == "1") return fmt::format("{:.10g}", value);
  return with_unit(value, unit);
}

std::string line(std::string_view name, std::string_view text) {
  return fmt::format("  {:<44} {}\n", name, text);
}

std::string input_text(const PlanAnswer& value) {
  if (value.is_number()) return fmt::format("{:.10g}", value.get<double>());
  return value.is_string() ? printable(value.get<std::string>()) : json_line(value);
}

struct Result {
  const char* key;
  std::string_view unit;
  const char* label = nullptr;  // for people, where the key ends with a unit that the text changes
};
constexpr std::array kResults{Result{"flops", "FLOP"},
                              Result{"flops_per_s", "FLOP/s"},
                              Result{"mfu", "share"},
                              Result{"days", "day"},
                              Result{"flops_per_day", "FLOP"},
                              Result{"gpu_hours", "hour"},
                              Result{"energy_j", "J", "energy"},
                              Result{"cost", "money"},
                              Result{"time_s", "s", "time"},
                              Result{"creation_time_s", "s", "time to create them on the device"},
                              Result{"parameters", "parameters"},
                              Result{"bytes", "byte"},
                              Result{"copy_bytes", "byte"},
                              Result{"host_bytes", "byte"},
                              Result{"host_link_bytes", "byte"},
                              Result{"intensity_flop_per_byte", "FLOP/B", "intensity"},
                              Result{"bytes_per_parameter", "byte"},
                              Result{"communication_bytes", "byte"},
                              Result{"link_time_s", "s", "time on the link"},
                              Result{"memory_bytes", "byte"},
                              Result{"usable_bytes", "byte"}};

constexpr std::array kVerdicts{"fits", "fits_usable", "view", "pass"};

// The stages of ZeRO as a table.
std::string stages_text(const PlanAnswer& stages) {
  std::vector<Texts> table{
      {"stage", "parameters", "bytes per parameter", "bytes", "sent per step"}};
  const bool linked = stages.front().contains("link_time_s");
  if (linked) table.front().emplace_back("link");
  Texts verdicts;
  for (const char* const key : kVerdicts) {
    if (stages.front().contains(key)) verdicts.emplace_back(key);
  }
  table.front().insert(table.front().end(), verdicts.begin(), verdicts.end());
  for (const PlanAnswer& row : stages) {
    Texts cells{fmt::format("{:g}", row["stage"].get<double>()),
                count_text(row["parameters"].get<double>()),
                fmt::format("{:.6g}", row["bytes_per_parameter"].get<double>()),
                with_unit(row["bytes"].get<double>(), "B"),
                with_unit(row["communication_bytes"].get<double>(), "B")};
    if (linked) cells.push_back(with_unit(row["link_time_s"].get<double>(), "s"));
    for (const std::string& key : verdicts) cells.emplace_back(row[key].get<bool>() ? "yes" : "no");
    table.push_back(std::move(cells));
  }
  return padded_table(table);
}

std::string yes_or_no(const PlanAnswer& value) {
  if (value.is_null()) return "-";
  return value.get<bool>() ? "yes" : "no";
}

// The ways to spread a batch over devices.
std::string ways_text(const PlanAnswer& ways) {
  std::vector<Texts> table{
      {"way", "state", "a layer", "activations", "bytes", "sent per step", "link", "idle", "fits"}};
  const auto shown = [](const PlanAnswer& value, std::string_view unit) {
    return value.is_null() ? std::string("-") : with_unit(value.get<double>(), unit);
  };
  for (const PlanAnswer& row : ways) {
    const PlanAnswer& idle = row["idle_share"];
    table.push_back({row["way"].get<std::string>(), shown(row["state_bytes"], "B"),
                     shown(row["layer_bytes"], "B"), shown(row["activation_bytes"], "B"),
                     shown(row["bytes"], "B"), shown(row["communication_bytes"], "B"),
                     shown(row["link_time_s"], "s"),
                     idle.is_null() ? "-" : fmt::format("{:.4g} %", 100 * idle.get<double>()),
                     yes_or_no(row["fits"])});
  }
  return padded_table(table);
}

// The rows of a checklist: verdict, value, limit, remedy.
std::string checks_text(const PlanAnswer& checks) {
  std::string text;
  for (const PlanAnswer& row : checks) {
    const auto unit = row["unit"].get<std::string>();
    std::string found = fmt::format("{}  {}", row["pass"].get<bool>() ? "pass" : "FAIL",
                                    quantity(row["value"].get<double>(), unit));
    if (!row["limit"].is_null()) {
      found += fmt::format(", at most {}", quantity(row["limit"].get<double>(), unit));
    }
    if (!row["remedy"].is_null()) found += fmt::format("; {}", row["remedy"].get<std::string>());
    text += line(row["check"].get<std::string>(), found);
  }
  return text + "\n";
}

// The ranges of MFU with what to look at, and published ones.
std::string expected_text(const PlanAnswer& answer) {
  std::string text = "\n  a training step's MFU\n";
  for (const PlanAnswer& row : answer["expected"]) {
    text += line(
        fmt::format("from {:g} %", 100 * row["from"].get<double>()),
        fmt::format("{}; {}", row["meaning"].get<std::string>(), row["look"].get<std::string>()));
  }
  text += "\n  published training runs\n";
  for (const PlanAnswer& row : answer["published"]) {
    text += line(row["run"].get<std::string>(),
                 fmt::format("{:.1f} %, {}", 100 * row["mfu"].get<double>(),
                             row["source"].get<std::string>()));
  }
  return text;
}

// The bytes of each part, the bar, and what makes the sum fit.
std::string fits_text(const PlanAnswer& answer) {
  std::string text;
  for (const PlanAnswer& part : answer["parts"]) {
    const auto ranks = part["ranks"].get<double>();
    const std::string shared = ranks > 1 ? fmt::format(" / {:g} ranks", ranks) : "";
    text += line(fmt::format("{}  {}{}", part["letter"].get<std::string>(),
                             part["name"].get<std::string>(), shared),
                 quantity(part["bytes"].get<double>(), "byte"));
  }
  return fmt::format("{}\n{}\n", text, memory_bar(answer, shows_utf8()));
}

// Draws one line for each phase of a step, with the letters of the parts that live in it.
std::string timeline_text(const PlanAnswer& answer) {
  std::vector<Texts> table{{"phase"}};
  for (const PlanAnswer& part : answer["parts"]) {
    table.front().push_back(part["letter"].get<std::string>());
  }
  table.front().emplace_back("bytes");
  for (const PlanAnswer& band : answer["timeline"]) {
    const PlanAnswer& layer = band["layer"];
    Texts cells{layer.is_null() ? band["phase"].get<std::string>()
                                : fmt::format("{} {:.0f}", band["phase"].get<std::string>(),
                                              layer.get<double>())};
    for (const PlanAnswer& bytes : band["live"]) {
      cells.push_back(with_unit(bytes.get<double>(), "B"));
    }
    cells.push_back(with_unit(band["bytes"].get<double>(), "B"));
    table.push_back(std::move(cells));
  }
  return padded_table(table) + "\n";
}

std::string changes_text(const PlanAnswer& changes) {
  std::string text;
  for (const PlanAnswer& change : changes) {
    text += line("fits with " + change["change"].get<std::string>(),
                 quantity(change["bytes"].get<double>(), "byte"));
  }
  return text;
}

std::string results_text(const PlanAnswer& answer) {
  std::string text;
  for (const auto& [key, unit, label] : kResults) {
    const auto found = answer.find(key);
    if (found != answer.end() && !found->is_null()) {
      text += line(label == nullptr ? key : label, quantity(found->get<double>(), unit));
    }
  }
  for (const char* const key : kVerdicts) {
    const auto found = answer.find(key);
    if (found != answer.end() && !found->is_null()) {
      text += line(key, found->get<bool>() ? "yes" : "no");
    }
  }
  return text;
}

}  // namespace

std::string plan_text(const PlanAnswer& answer) {
  std::string text = fmt::format("plan {}\n", answer["plan"].get<std::string>());
  for (const auto& [name, value] : answer["inputs"].items()) text += line(name, input_text(value));
  text += "\n";
  for (const PlanAnswer& term : answer["terms"]) {
    const double value = term["value"].get<double>();
    text += line(printable(term["name"].get<std::string>()),
                 quantity(value, term["unit"].get<std::string>()));
  }
  if (!answer["terms"].empty()) text += "\n";
  if (answer.contains("ways")) text += ways_text(answer["ways"]) + "\n";
  if (answer.contains("checks")) text += checks_text(answer["checks"]);
  if (answer.contains("stages")) text += stages_text(answer["stages"]) + "\n";
  if (answer.contains("parts")) text += fits_text(answer);
  if (answer.contains("timeline")) text += timeline_text(answer);
  text += results_text(answer);
  if (answer.contains("changes")) text += changes_text(answer["changes"]);
  if (answer.contains("meaning")) text += line("meaning", answer["meaning"].get<std::string>());
  if (answer.contains("note")) text += line("note", printable(answer["note"].get<std::string>()));
  if (answer.contains("expected")) text += expected_text(answer);
  return text;
}

}  // namespace ridgebench
