#include "harness/results/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/results/measured_roofs.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

constexpr const char* kControls = "controls";
constexpr const char* kDoubted = "doubted";
constexpr Range kAnyChange{-1, 1e300};

bool is_ceiling_with_time(const Record& r) {
  return r.role == Role::ceiling && r.status == Status::ok && r.time;
}

bool saturates_memory(const Record& r) { return r.saturates == Resource::memory; }

// The control of a ceiling that was measured again itself; empty without one.
std::optional<Control> own_control(const Record& ceiling, std::span<const Record> records) {
  const std::string id = control_of(ceiling.id);
  const auto again = std::ranges::find(records, id, &Record::id);
  if (again == records.end() || again->status != Status::ok || !again->time) return std::nullopt;
  // Both do the same work.
  return Control{ceiling.id, id, ceiling.time->median / again->time->median - 1};
}

ordered_json json_of(const Control& control) {
  return {{"ceiling", control.ceiling},
          {"control", control.control},
          {"change", control.change},
          {"moved", control.moved()},
          {"earlier", control.earlier}};
}

// Empty where environment.json has none: of a run that did not end, or of before they were
// recorded.
std::optional<Doubts> recorded_doubts(const nlohmann::json& json, const std::string& origin) {
  const JsonObject environment(json, origin);
  if (!environment.holds(kControls) || !environment.holds(kDoubted)) return std::nullopt;
  Doubts doubts;
  for (const JsonObject& control : environment.objects(kControls)) {
    doubts.controls.push_back({.ceiling = control.text("ceiling"),
                               .control = control.text("control"),
                               .change = control.number("change", kAnyChange),
                               .earlier = control.flag("earlier")});
  }
  const JsonObject rows = environment.object(kDoubted);
  for (const auto& [id, unused] : json.at(kDoubted).items()) {
    doubts.rows.emplace(id, rows.texts(id.c_str()));
  }
  return doubts;
}

}  // namespace

std::string id_of_row(const RowName& row) {
  return fmt::format("{}/{}/{}/{}/{}@{}", row.operation, row.technique, row.format.name(),
                     row.shape.text(), name(row.regime), row.device);
}

std::vector<Control> controls_of(std::span<const Record> records) {
  std::vector<Control> controls;
  std::map<std::string, Control> copies;  // by device
  for (const Record& ceiling : records) {
    if (!is_ceiling_with_time(ceiling)) continue;
    const auto own = own_control(ceiling, records);
    if (!own) continue;
    controls.push_back(*own);
    if (!saturates_memory(ceiling)) continue;
    const auto [copy, first] = copies.emplace(ceiling.device, *own);
    if (!first && std::abs(own->change) > std::abs(copy->second.change)) copy->second = *own;
  }
  for (const Record& ceiling : records) {
    if (!is_ceiling_with_time(ceiling) || !saturates_memory(ceiling)) continue;
    const auto copy = copies.find(ceiling.device);
    const bool has_own =
        std::ranges::find(controls, ceiling.id, &Control::ceiling) != controls.end();
    if (copy == copies.end() || has_own) continue;
    controls.push_back({ceiling.id, copy->second.control, copy->second.change});
  }
  return controls;
}

std::vector<std::string> limiting_ceilings(const Record& r) {
  std::vector<std::string> ceilings;
  if (!r.roof) return ceilings;
  const auto add = [&](const std::optional<std::string>& ceiling) {
    if (ceiling) ceilings.push_back(*ceiling);
  };
  if (r.bound != Limit::memory) add(r.roof->compute_ceiling);
  if (r.bound != Limit::compute) add(r.roof->memory_ceiling);
  return ceilings;
}

Doubts doubts_of(std::span<const Record> records, std::span<const Control> earlier) {
  Doubts doubts{.controls = controls_of(records)};
  std::set<std::string> used;
  for (const Record& r : records) {
    for (std::string& ceiling : limiting_ceilings(r)) used.insert(std::move(ceiling));
  }
  for (Control control : earlier) {
    const bool known = std::ranges::find(doubts.controls, control.ceiling, &Control::ceiling) !=
                       doubts.controls.end();
    if (known || !used.contains(control.ceiling)) continue;
    control.earlier = true;
    doubts.controls.push_back(std::move(control));
  }
  std::set<std::string> moved;
  for (const Control& control : doubts.controls) {
    if (control.moved()) moved.insert(control.ceiling);
  }
  for (const Record& r : records) {
    if (r.role != Role::kernel || r.status != Status::ok) continue;
    std::vector<std::string> ceilings = limiting_ceilings(r);
    std::erase_if(ceilings, [&](const std::string& id) { return !moved.contains(id); });
    if (!ceilings.empty()) doubts.rows.emplace(r.id, std::move(ceilings));
  }
  return doubts;
}

void add_doubts(ordered_json& environment, const Doubts& doubts) {
  environment[kControls] = ordered_json::array();
  for (const Control& control : doubts.controls) {
    environment[kControls].push_back(json_of(control));
  }
  environment[kDoubted] = doubts.rows;
}

bool Standing::cut_by_budget(const Record& record) const {
  return budgeted && record.flagged(kFewSamples);
}

bool Standing::may_head(const Record& record) const {
  return !why_unfinished && record.status == Status::ok && !cut_by_budget(record);
}

std::optional<std::string> why_unfinished(const JsonObject& environment) {
  if (environment.holds("imported")) return std::nullopt;
  if (environment.flag("interrupted")) return "the run was interrupted";
  if (!environment.holds("ended")) return "the run has no end";
  return std::nullopt;
}

Standing read_standing(const std::string& directory, std::span<const Record> records) {
  const std::string path = directory + "/environment.json";
  const nlohmann::json json = parse_json(read_file(path), path);
  const JsonObject environment(json, path);
  Standing standing{.why_unfinished = why_unfinished(environment),
                    .budgeted = environment.holds("budget_s")};
  const auto recorded = recorded_doubts(json, path);
  standing.doubts_recorded = recorded.has_value();
  standing.doubts = recorded ? *recorded : doubts_of(records);
  return standing;
}

std::vector<std::string> doubt_problems(const nlohmann::json& environment,
                                        std::span<const Record> records) {
  const auto recorded = recorded_doubts(environment, "environment.json");
  if (!recorded) return {};
  std::vector<Control> earlier = recorded->controls;
  std::erase_if(earlier, [](const Control& control) { return !control.earlier; });
  ordered_json again;
  add_doubts(again, doubts_of(records, earlier));
  std::vector<std::string> problems;
  for (const char* key : {kControls, kDoubted}) {
    if (nlohmann::json(again.at(key)) == environment.at(key)) continue;
    problems.push_back(fmt::format("environment.json: {} is not what the rows say", key));
  }
  return problems;
}

}  // namespace ridgebench
