#include "harness/results/verify/node_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "roofline/json_object.hpp"

namespace ridgebench::node {
namespace {

namespace fs = std::filesystem;

constexpr Range kExitCodes{0, 255};

std::optional<int> stated_exit(const JsonObject& json) {
  if (!json.holds("exit")) return std::nullopt;
  return static_cast<int>(json.count("exit", kExitCodes));
}

std::optional<std::string> stated_text(const JsonObject& json, const char* key) {
  return json.holds(key) ? json.optional_text(key) : std::nullopt;
}

bool is_below(const fs::path& folder, const fs::path& parent) {
  return parent.empty() || std::ranges::mismatch(folder, parent).in2 == std::ranges::end(parent);
}

// True if node.json says why a pass is not done.
bool is_explained(const StatedNode& node, const StatedPass& pass) {
  if (pass.state == State::waiting) return node.interrupted;
  return pass.state != State::running && !pass.reason.empty();
}

// Names the difference between environment.json of a results folder and node.json: "another host".
// Empty if they agree.
std::string what_differs(const fs::path& folder, const StatedNode& node, const StatedPass& pass) {
  const std::string path = (folder / "environment.json").string();
  const nlohmann::json raw = parse_json(read_file(path), path);
  const JsonObject environment(raw, path);
  if (node.hostname_hash && environment.holds("host")) {
    const auto host = stated_text(environment.object("host"), "hostname_hash");
    if (host && host != node.hostname_hash) return "another host";
  }
  for (const JsonObject& device : environment.objects("devices")) {
    if (device.text("name") != pass.device) continue;
    const auto uuid = stated_text(device, "uuid_hash");
    return uuid && pass.uuid_hash && uuid != pass.uuid_hash ? "another GPU" : "";
  }
  return "no " + pass.device;
}

void check_pass(const fs::path& tree, const StatedNode& node, const StatedPass& pass,
                bool has_results, std::vector<std::string>& problems) {
  const auto add = [&](const std::string& what) {
    problems.push_back(fmt::format("{}: {}", node.file, what));
  };
  if (pass.state == State::done && !has_results) {
    add(fmt::format("{}, but {} holds no results", pass.text(), pass.folder.string()));
  }
  if (pass.state != State::done && node.ended && !is_explained(node, pass)) {
    add(fmt::format("{}, and no reason is given", pass.text()));
  }
  if (pass.exit && node.exit && *node.exit < *pass.exit) {
    add(fmt::format("exit is {}, but {} {} ended with {}", *node.exit, pass.device, pass.pass,
                    *pass.exit));
  }
  if (!has_results || !fs::exists(tree / pass.folder / "environment.json")) return;
  const std::string differs = what_differs(tree / pass.folder, node, pass);
  if (!differs.empty()) {
    add(fmt::format("{} has {} in its environment.json: it is not the {} pass of {}",
                    pass.folder.string(), differs, pass.pass, pass.device));
  }
}

}  // namespace

std::string StatedPass::text() const {
  return fmt::format("{} {} is {}{}{}", device, pass, name(state), reason.empty() ? "" : ": ",
                     reason);
}

StatedNode read_stated_node(const fs::path& tree, const fs::path& file) {
  const std::string path = (tree / file).string();
  const nlohmann::json raw = parse_json(read_file(path), path);
  const JsonObject json(raw, path);
  StatedNode node{.file = file.string(),
                  .hostname_hash = stated_text(json, "hostname_hash"),
                  .ended = json.holds("ended"),
                  .interrupted = json.holds("interrupted") && json.flag("interrupted"),
                  .exit = stated_exit(json),
                  .passes = {}};
  const std::vector<JsonObject> gpus = json.objects("gpus");
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const JsonObject passes = gpus[i].object("passes");
    for (const auto& [name, unused] : raw["gpus"][i]["passes"].items()) {
      const JsonObject pass = passes.object(name.c_str());
      node.passes.push_back({.device = gpus[i].text("device"),
                             .uuid_hash = stated_text(gpus[i], "uuid_hash"),
                             .pass = name,
                             .folder = file.parent_path() / pass.text("folder"),
                             .state = pass.one_of<State>("state"),
                             .reason = stated_text(pass, "reason").value_or(""),
                             .exit = stated_exit(pass)});
    }
  }
  return node;
}

std::vector<std::string> problems_of_node(const fs::path& tree, const StatedNode& node,
                                          std::span<const fs::path> folders) {
  std::vector<std::string> problems;
  if (!node.ended) problems.push_back(node.file + ": the command did not end");
  for (const StatedPass& pass : node.passes) {
    const bool has_results = std::ranges::find(folders, pass.folder) != folders.end();
    check_pass(tree, node, pass, has_results, problems);
  }
  for (const fs::path& folder : folders) {
    const bool named =
        std::ranges::find(node.passes, folder, &StatedPass::folder) != node.passes.end();
    if (named || !is_below(folder, fs::path(node.file).parent_path())) continue;
    problems.push_back(fmt::format("{}: no pass has the folder {}", node.file, folder.string()));
  }
  return problems;
}

}  // namespace ridgebench::node
