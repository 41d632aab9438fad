#include "harness/results/resume.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "harness/results/record.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

constexpr std::array kProgramKeys{"version", "method_version", "commit", "build", "libraries"};
constexpr std::array kDeviceKeys{"name",    "model", "uuid_hash",     "isa",
                                 "threads", "mig",   "power_limit_w", "driver"};
// What the run keeps from its beginning.
constexpr std::array kKept{"run_id", "started", "command_line", "devices"};

void require_same(const std::string& path, std::string_view what, const char* key,
                  const ordered_json& earlier, const ordered_json& now) {
  if (!earlier.contains(key) || earlier.at(key) == now.at(key)) return;
  constexpr auto replace = ordered_json::error_handler_t::replace;
  throw UsageError(fmt::format(
      "{}: {} of the {} was {}, now it is {}; allowed: the same program on the same devices", path,
      key, what, earlier.at(key).dump(-1, ' ', false, replace),
      now.at(key).dump(-1, ' ', false, replace)));
}

}  // namespace

RunRequest read_request(const std::string& results_directory) {
  const std::string path = results_directory + "/environment.json";
  const nlohmann::json raw = parse_json(read_file(path), path);
  const JsonObject json(raw, path);
  const std::string schema = json.text("schema");
  if (schema != kEnvironmentSchema && schema != former(kEnvironmentSchema)) {
    json.reject("schema", kEnvironmentSchema);
  }
  RunRequest request;
  request.device = json.optional_text("device").value_or("");
  request.profile = parse<Profile>(json.text("profile"));
  request.filter = json.optional_text("filter").value_or("");
  for (const std::string& regime : json.texts("regimes")) {
    request.regimes.push_back(parse<Regime>(regime));
  }
  request.seed = static_cast<std::uint64_t>(json.number("seed", {0, kLargestCount}));
  request.fill = parse<Fill>(json.text("fill"));
  request.budget_s = json.optional_number("budget_s", {0, 1e9});
  request.roof = json.optional_text("roof").value_or("");
  request.ceilings = json.optional_text("ceilings").value_or("");
  return request;
}

void continue_run(ordered_json& environment, const std::string& results_directory) {
  const std::string path = results_directory + "/environment.json";
  const std::string text = read_file(path);
  const nlohmann::json checked = parse_json(text, path);
  const auto listed = JsonObject(checked, path).objects("devices").size();
  const ordered_json earlier = ordered_json::parse(text);
  for (const char* key : kProgramKeys) require_same(path, "program", key, earlier, environment);
  const ordered_json& devices = environment.at("devices");
  if (listed != devices.size()) {
    throw UsageError(
        fmt::format("{}: {} devices were measured, now there are {}; allowed: the same "
                    "program on the same devices",
                    path, listed, devices.size()));
  }
  for (std::size_t i = 0; i < listed; ++i) {
    for (const char* key : kDeviceKeys) {
      require_same(path, "device", key, earlier.at("devices").at(i), devices.at(i));
    }
  }
  ordered_json resumed = ordered_json::array();
  if (earlier.contains("resumed") && earlier.at("resumed").is_array()) {
    resumed = earlier.at("resumed");
  }
  resumed.push_back(environment.at("started"));
  environment["resumed"] = std::move(resumed);
  for (const char* key : kKept) {
    if (earlier.contains(key)) environment[key] = earlier.at(key);
  }
}

}  // namespace ridgebench
