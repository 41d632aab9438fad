#include "harness/results/run_request.hpp"

#include "roofline/json_object.hpp"

namespace ridgebench {
RunRequest read_request(const std::string& results_directory) {
  const std::string path = results_directory + "/environment.json";
  const nlohmann::json raw = parse_json(read_file(path), path);
  const JsonObject json(raw, path);
  if (json.text("schema") != kEnvironmentSchema) json.reject("schema", kEnvironmentSchema);
  RunRequest request;
  request.device = json.optional_text("device").value_or("");
  request.profile = parse<Profile>(json.text("profile"));
  request.filter = json.optional_text("filter").value_or("");
  for (const std::string& regime : json.texts("regimes")) {
    request.regimes.push_back(parse<Regime>(regime));
  }
  request.seed = static_cast<std::uint64_t>(json.number("seed", {0, 0x1p53}));
  request.fill = parse<Fill>(json.text("fill"));
  request.budget_s = json.optional_number("budget_s", {0, 1e9});
  request.roof = json.optional_text("roof").value_or("");
  request.ceilings = json.optional_text("ceilings").value_or("");
  return request;
}

}  // namespace ridgebench
