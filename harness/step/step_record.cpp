#include "harness/step/step_record.hpp"

#include "harness/results/keyed_json.hpp"
#include "harness/results/read_keyed.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {

nlohmann::ordered_json to_json(const StepRecord& record) {
  nlohmann::ordered_json json{{"schema", kStepSchema}};
  json.update(object_json(record));
  return json;
}

StepRecord parse_step(std::string_view line, const std::string& origin) {
  const nlohmann::json checked = parse_json(line, origin);
  const JsonObject json(checked, origin);
  if (json.text("schema") != kStepSchema) json.reject("schema", kStepSchema);
  StepRecord record;
  read_object(json, parse_ordered(line), record);
  return record;
}

}  // namespace ridgebench
