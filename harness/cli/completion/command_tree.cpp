#include "harness/cli/completion/command_tree.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "harness/base/regime.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/python/python_commands.hpp"
#include "harness/device/open_devices.hpp"
#include "kernels/common/format.hpp"
#include "kernels/common/random.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/device_spec.hpp"
#include "roofline/json_object.hpp"
#include "roofline/transformer/transformer.hpp"

namespace ridgebench {
namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 4> kTypesOfFiles{"CONFIG", "DIR", "FILE", "SHEET"};

template <NamedEnum E>
Words names_in_order() {
  constexpr auto table = names_of(E{});
  return {table.names.begin(), table.names.end()};
}

Words operations() {
  Words names;
  for (const auto& operation : Registry::instance().operations()) {
    if (!operation->ceiling) names.push_back(operation->name);
  }
  return names;
}

Words techniques() {
  std::set<std::string> names;
  for (const auto& implementation : Registry::instance().implementations()) {
    names.emplace(implementation->technique.name);
  }
  return {names.begin(), names.end()};
}

Words formats() {
  Words names;
  for (const FormatInfo& format : kFormats) {
    names.emplace_back(format.name);
  }
  return names;
}

Words known_sheets() {
  Words names;
  for (const DeviceSpec& sheet : data_sheets()) names.push_back(sheet.name);
  return names;
}

Words models() {
  Words names;
  for (const std::string& name : CLI::detail::split(transformer_names(), ',')) {
    names.push_back(CLI::detail::trim_copy(name));
  }
  return names;
}

// The values of an option whose value the help calls `type`.
Words known_values(std::string_view type) {
  if (type == "OPERATION") return operations();
  if (type == "TECHNIQUE") return techniques();
  if (type == "FORMAT") return formats();
  if (type == "DEVICE") return device_words();
  if (type == "SHEET") return known_sheets();
  if (type == "CONFIG") return models();
  if (type == "PROFILE") return names_in_order<Profile>();
  if (type == "REGIME") return names_in_order<Regime>();
  if (type == "FILL") return names_in_order<Fill>();
  return {};
}

void complete(CommandOption& option) {
  if (option.values.empty()) option.values = known_values(option.type);
  option.files =
      option.files || std::ranges::find(kTypesOfFiles, option.type) != kTypesOfFiles.end();
}

CommandOption described(const CLI::Option& option) {
  CommandOption result;
  result.positional = option.get_positional();
  result.help = option.get_description();
  if (option.get_expected_max() > 0) {
    const std::string type = option.get_type_name();  // before a colon, after which are its checks
    result.type = type.substr(0, type.find(':'));
  }
  if (result.positional) {
    result.names = {option.get_single_name()};
  } else {
    for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  }
  complete(result);
  return result;
}

Command described(const CLI::App& app) {
  Command command;
  command.name = app.get_name();
  command.help = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) command.options.push_back(described(*option));
  }
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
    command.commands.push_back(described(*one));
  }
  return command;
}

// The output of roofline/ridgebench/command_tree.py.
Command described(const nlohmann::json& told) {
  Command command{.name = told.at("name"), .help = told.at("help"), .options = {}, .commands = {}};
  for (const auto& one : told.at("options")) {
    CommandOption option{.names = one.at("names"),
                         .positional = one.at("positional"),
                         .type = one.at("type"),
                         .help = one.at("help"),
                         .values = one.at("values"),
                         .files = one.at("files")};
    complete(option);
    command.options.push_back(std::move(option));
  }
  for (const auto& one : told.at("commands")) command.commands.push_back(described(one));
  return command;
}

// Returns null where Python gives no answer.
nlohmann::json python_tree() try {
  return parse_json(answer_of_python({"tree"}), "the tree of Python's commands");
} catch (const UsageError&) {
  return {};
}

}  // namespace

Command command_tree(const CLI::App& app) {
  Command root = described(app);
  const nlohmann::json told = python_tree();
  if (!told.is_array()) {
    write_error("note: Python does not answer: the options of its commands are left out\n");
    return root;
  }
  for (const auto& one : told) {
    Command command = described(one);
    const auto place = std::ranges::find(root.commands, command.name, &Command::name);
    if (place != root.commands.end()) *place = std::move(command);
  }
  return root;
}

}  // namespace ridgebench
