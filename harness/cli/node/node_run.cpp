#include "harness/cli/node/node_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/build_info.hpp"
#include "harness/base/child.hpp"
#include "harness/base/process.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/machine_facts.hpp"
#include "harness/cli/node/node.hpp"
#include "harness/device/open_devices.hpp"
#include "harness/results/results_directory.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_text.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench::node {
namespace {

using nlohmann::ordered_json;

constexpr const char* kNodeSchema = "ridgebench.node/1";
constexpr double kDriverAnswers_s = 60;  // doctor's limit

ordered_json json_of(const GpuPass& pass) {
  return {{"folder", pass.folder},
          {"state", name(pass.state)},
          {"exit", nullable(pass.exit)},
          {"reason", nullable(pass.reason)},
          {"started", nullable(pass.started)},
          {"ended", nullable(pass.ended)},
          {"worn", pass.worn}};
}

ordered_json json_of(const Gpu& gpu, std::span<const Pass> passes) {
  ordered_json json = gpu.facts;
  for (const Pass pass : passes) json["passes"][std::string(name(pass))] = json_of(gpu.at(pass));
  return json;
}

// The work of the process that queries the driver.
ordered_json ask_driver() {
  try {
    return {{"gpus", find_gpus()}};
  } catch (...) {
    const CommandFailure failure = command_failure(std::current_exception());
    return {{"code", static_cast<int>(failure.code)}, {"text", failure.text}};
  }
}

ordered_json answer_of_driver() {
  Child child([](int descriptor) { write_all(descriptor, json_line(ask_driver())); });
  const ChildAnswer answer = child.wait(steady_s() + kDriverAnswers_s);
  if (answer.end == ChildEnd::hung) {
    throw DeviceError(
        fmt::format("the driver does not answer within {:g} s; `ridgebench doctor` says more",
                    kDriverAnswers_s));
  }
  if (answer.end == ChildEnd::crashed) {
    throw DeviceError(fmt::format("the driver crashed (signal {}); `ridgebench doctor` says more",
                                  answer.signal));
  }
  return parse_ordered(answer.text);
}

Gpu gpu_of(const ordered_json& facts) {
  Gpu gpu{.facts = facts, .passes = {}};
  std::string folder = gpu.device();
  std::ranges::replace(folder, ':', '-');
  constexpr auto passes = names_of(Pass{}).names;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    gpu.passes[i].folder = fmt::format("{}/{}", passes[i], folder);
  }
  return gpu;
}

void read_pass_into(GpuPass& pass, const JsonObject& json) {
  pass.state = json.one_of<State>("state");
  if (json.holds("exit")) pass.exit = static_cast<int>(json.count("exit", {0, 255}));
  pass.reason = json.optional_text("reason").value_or("");
  pass.started = json.optional_text("started").value_or("");
  pass.ended = json.optional_text("ended").value_or("");
  if (json.holds("worn")) pass.worn = json.texts("worn");
}

std::string path_of_node(const std::filesystem::path& folder) {
  return (folder / kNodeFile).string();
}

}  // namespace

int GpuPass::code() const {
  if (state == State::hung) return std::max(exit.value_or(0), int(ExitCode::device_lost));
  if (exit) return *exit;
  if (state != State::killed) return 0;
  return int(reason == kInterrupted ? ExitCode::undecided : ExitCode::row_failed);
}

int NodeRun::code() const {
  int code = 0;
  for (const Gpu& gpu : gpus) {
    for (const GpuPass& pass : gpu.passes) code = std::max(code, pass.code());
  }
  return code;
}

void NodeRun::write() const {
  ordered_json list = ordered_json::array();
  for (const Gpu& gpu : gpus) list.push_back(json_of(gpu, work->passes));
  const ordered_json json{{"schema", kNodeSchema},
                          {"node", node},
                          {"hostname_hash", hostname_hash()},
                          {"version", build_info::version},
                          {"command_line", command_line},
                          {"started", started},
                          {"resumed", resumed},
                          {"ended", nullable(ended)},
                          {"interrupted", interrupted},
                          {"exit", nullable(exit)},
                          {"budget_s", nullable(budget_s)},
                          {"gpus", list}};
  write_atomically(folder / kNodeFile, json_lines(json, 2) + "\n");
}

NodeRun read_node_run(const std::filesystem::path& folder, const NodeWork& work) {
  const std::string path = path_of_node(folder);
  const auto refuse = [&](const std::string& what) {
    throw UsageError(fmt::format("{} holds {}; allowed: the folder of a `{} --concurrent`",
                                 folder.string(), what, work.command));
  };
  if (!std::filesystem::exists(path)) refuse(fmt::format("no {}", kNodeFile));
  const std::string text = read_file(path);
  const nlohmann::json raw = parse_json(text, path);
  const JsonObject json(raw, path);
  if (json.text("schema") != kNodeSchema) json.reject("schema", kNodeSchema);
  NodeRun run{.work = &work,
              .node = json.text("node"),
              .folder = folder,
              .command_line = json.texts("command_line"),
              .budget_s = json.optional_number("budget_s", {0, 1e9}),
              .gpus = {},
              .started = json.text("started"),
              .ended = {},
              .exit = {}};
  if (json.holds("resumed")) run.resumed = json.texts("resumed");
  if (json.holds("interrupted")) run.interrupted = json.flag("interrupted");
  const ordered_json ordered = parse_ordered(text);
  const std::vector<JsonObject> gpus = json.objects("gpus");
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    static_cast<void>(gpus[i].text("device"));
    ordered_json facts = ordered.at("gpus").at(i);
    facts.erase("passes");
    Gpu& gpu = run.gpus.emplace_back(gpu_of(facts));
    const JsonObject passes = gpus[i].object("passes");
    for (const Pass pass : work.passes) {
      const std::string key(name(pass));
      if (!passes.holds(key.c_str())) refuse(fmt::format("no pass `{}` in {}", key, kNodeFile));
      read_pass_into(gpu.at(pass), passes.object(key.c_str()));
    }
  }
  return run;
}

void require_same_node(const NodeRun& run, const std::vector<Gpu>& now) {
  const std::string path = path_of_node(run.folder);
  const nlohmann::json raw = parse_json(read_file(path), path);
  const JsonObject json(raw, path);
  if (json.text("version") != build_info::version) json.reject("version", build_info::version);
  if (json.text("hostname_hash") != hostname_hash()) {
    json.reject("hostname_hash", "that of this node, " + hostname_hash());
  }
  for (const Gpu& gpu : run.gpus) {
    const auto same = std::ranges::find(now, gpu.device(), &Gpu::device);
    if (same != now.end() && same->facts == gpu.facts) continue;
    throw UsageError(fmt::format("{}: {} was {}, now it is {}; allowed: the same GPUs", path,
                                 gpu.device(), json_line(gpu.facts),
                                 same == now.end() ? "absent" : json_line(same->facts)));
  }
}

std::vector<Gpu> find_node_gpus(const std::string& device) {
  const ordered_json answer = answer_of_driver();
  if (answer.contains("code")) {
    const auto text = answer.at("text").get<std::string>();
    if (answer.at("code") == int(ExitCode::usage)) throw UsageError(text);
    throw DeviceError(text);
  }
  std::vector<Gpu> gpus;
  std::vector<std::string> names;
  for (const ordered_json& facts : answer.at("gpus")) {
    const Gpu gpu = gpu_of(facts);
    names.push_back(gpu.device());
    if (device.empty() || device == names.back()) gpus.push_back(gpu);
  }
  if (gpus.empty()) {
    throw UsageError(
        fmt::format("--device {} with --concurrent; allowed: {}; without it every GPU is measured",
                    device, fmt::join(names, ", ")));
  }
  return gpus;
}

}  // namespace ridgebench::node
