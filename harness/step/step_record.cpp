#include "harness/step/step_record.hpp"

#include "harness/results/keyed_json.hpp"
#include "harness/results/read_keyed.hpp"

namespace ridgebench {

nlohmann::ordered_json to_json(const StepRecord& record) {
  nlohmann::ordered_json json{{"schema", kStepSchema}};
  json.update(object_json(record));
  return json;
}

std::vector<StepRecord> read_steps(const std::filesystem::path& directory) {
  std::vector<StepRecord> steps;
  for_each_step(directory, [&](const JsonObject& json, const nlohmann::ordered_json& raw) {
    read_object(json, raw, steps.emplace_back());
  });
  return steps;
}

}  // namespace ridgebench
