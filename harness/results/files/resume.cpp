#include "harness/results/files/resume.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "harness/results/record.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

constexpr std::array kProgramKeys{"version", "method_version", "commit",
                                  "dirty",   "build",          "libraries"};
constexpr std::array kDeviceKeys{"name",    "model", "uuid_hash",     "isa",
                                 "threads", "mig",   "power_limit_w", "driver"};
// The memory in use and the control group of a host differ between two processes.
constexpr std::array kHostFacts{"hostname_hash", "cpu_model", "sockets",    "cores",
                                "kernel",        "os",        "governor",   "libc",
                                "numa_nodes",    "container", "virtualized"};
// Settings that the run keeps from its beginning.
constexpr std::array kKept{"run_id",  "started", "command_line", "conditions",
                           "devices", "host",    "scheduler",    "environment_variables"};

// Returns a value of a file for a message.
std::string shown(const ordered_json& value) {
  constexpr std::size_t kLongest = 200;
  std::string text = json_line(value);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

void require_same(const std::string& path, std::string_view what, const char* key,
                  const ordered_json& earlier, const ordered_json& now) {
  if (!earlier.contains(key) || earlier.at(key) == now.at(key)) return;
  throw UsageError(fmt::format(
      "{}: {} of the {} was {}, now it is {}; allowed: the same program on the same devices", path,
      key, what, shown(earlier.at(key)), shown(now.at(key))));
}

// A run may see its devices by other variables: the devices themselves are compared. Variables of a
// container's image choose devices, too.
bool chooses_devices(std::string_view variable) {
  return variable == "CUDA_VISIBLE_DEVICES" ||
         (variable.starts_with("NVIDIA_") && variable != "NVIDIA_TF32_OVERRIDE");
}

void require_same_variables(const std::string& path, const ordered_json& earlier,
                            const ordered_json& now) {
  const auto text = [](const ordered_json& variables, const std::string& name) {
    return variables.contains(name) ? shown(variables.at(name)) : "unset";
  };
  ordered_json all = earlier;
  all.update(now);
  for (const auto& [name, unused] : all.items()) {
    const std::string was = text(earlier, name);
    const std::string is = text(now, name);
    if (was == is || chooses_devices(name)) continue;
    throw UsageError(
        fmt::format("{}: the variable {} was {}, now it is {}; allowed: the variables of the run",
                    path, name, was, is));
  }
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
  if (json.holds("imported")) {
    throw UsageError(fmt::format("{}: imported results; allowed: the folder of a run", path));
  }
  RunRequest request;
  request.device = json.optional_text("device").value_or("");
  request.profile = parse<Profile>(json.text("profile"));
  request.filter = json.optional_text("filter").value_or("");
  const auto list = [&](const char* key) {
    return json.holds(key) ? json.texts(key) : std::vector<std::string>();
  };
  request.names = {list("operations"), list("techniques"), list("formats"), list("shapes")};
  for (const std::string& regime : json.texts("regimes")) {
    request.regimes.push_back(parse<Regime>(regime));
  }
  request.seed = static_cast<std::uint64_t>(json.number("seed", {0, kLargestCount}));
  request.fill = parse<Fill>(json.text("fill"));
  request.early_launches = !json.holds("early_launches") || json.flag("early_launches");
  request.fingerprint = json.holds("fingerprint") && json.flag("fingerprint");
  request.budget_s = json.optional_number("budget_s", {0, 1e9});
  request.roof = json.optional_text("roof").value_or("");
  request.ceilings = json.optional_text("ceilings").value_or("");
  return request;
}

void require_same_kernels(const std::string& results_directory) {
  const std::string path = results_directory + "/environment.json";
  const nlohmann::json now = describe_loaded_kernels();
  const nlohmann::json then =
      parse_json(read_file(path), path).value("loaded", nlohmann::json::array());
  if (then == now) return;
  throw UsageError(fmt::format(
      "{}: the run loaded {}, this command loads {}; allowed: --load with the same files", path,
      shown(then), shown(now)));
}

void continue_run(ordered_json& environment, const std::string& results_directory) {
  const std::string path = results_directory + "/environment.json";
  const std::string text = read_file(path);
  const nlohmann::json checked = parse_json(text, path);
  const JsonObject json(checked, path);
  const auto listed = json.objects("devices").size();
  static_cast<void>(json.object("host"));
  static_cast<void>(json.object("environment_variables"));
  static_cast<void>(json.object("state").object("before"));
  const ordered_json earlier = parse_ordered(text);
  for (const char* key : kProgramKeys) require_same(path, "program", key, earlier, environment);
  for (const char* key : kHostFacts) {
    require_same(path, "host", key, earlier.at("host"), environment.at("host"));
  }
  require_same_variables(path, earlier.at("environment_variables"),
                         environment.at("environment_variables"));
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
  environment["state"]["before"] = earlier.at("state").at("before");
}

}  // namespace ridgebench
