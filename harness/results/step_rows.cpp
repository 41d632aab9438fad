#include "harness/results/step_rows.hpp"

#include <fmt/format.h>

#include <sstream>

#include "harness/results/read_keyed.hpp"
#include "harness/results/results_directory.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {

bool holds_step(const std::filesystem::path& directory) {
  std::error_code unknown;
  return std::filesystem::exists(directory / kStepFile, unknown);
}

void for_each_step(const std::filesystem::path& directory, const StepReader& read) {
  const std::string path = (directory / kStepFile).string();
  std::istringstream lines(read_file(path));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string origin = fmt::format("{}:{}", path, ++number);
    const nlohmann::json checked = parse_json(line, origin);
    const JsonObject json(checked, origin);
    if (json.text("schema") != kStepSchema) json.reject("schema", kStepSchema);
    read(json, parse_ordered(line));
  }
}

std::vector<StepRows> read_step_rows(const std::filesystem::path& directory) {
  std::vector<StepRows> steps;
  for_each_step(directory, [&](const JsonObject& json, const nlohmann::ordered_json& raw) {
    read_object(json, raw, steps.emplace_back());
  });
  return steps;
}

Roofs roofs_of(const std::string& directory, const MeasuredDevice& device,
               const std::vector<StepRows>& steps) {
  Roofs roofs = unmeasured_roofs(directory, device);
  for (const StepRows& step : steps) {
    if (step.device != device.name || step.status != Status::ok) continue;
    for (const StepCeiling& c : step.ceilings) {
      roofs.add({c.resource, c.format, c.written_fraction, c.per_s, c.id});
    }
  }
  return roofs;
}

}  // namespace ridgebench
