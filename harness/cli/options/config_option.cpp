#include "harness/cli/options/config_option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

#include "harness/cli/python/python_commands.hpp"

namespace ridgebench {
namespace {

constexpr const char* kConfig = "--config";

// The words that lead to a command: {"plan", "train"}.
std::vector<std::string> path_of(const CLI::App& command) {
  std::vector<std::string> path;
  for (const CLI::App* app = &command; app->get_parent() != nullptr; app = app->get_parent()) {
    path.insert(path.begin(), app->get_name());
  }
  return path;
}

// The name of an option as a key of a file has it.
std::string key_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_single_name() : option.get_lnames().front();
}

bool may_be_configured(const CLI::Option& option) {
  return option.get_configurable() && !option.get_group().empty();
}

bool is_flag(const CLI::Option& option) { return option.get_expected_min() == 0; }

std::string keys_of(const CLI::App& command) {
  std::vector<std::string> keys;
  for (const CLI::Option* option : command.get_options()) {
    if (may_be_configured(*option)) keys.push_back(key_of(*option));
  }
  return keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", "));
}

std::string name_of(const CLI::Option& option) {
  return (option.get_positional() ? "" : "--") + key_of(option);
}

// Adds the words of a command line that say the same.
void add_words(std::vector<std::string>& words, const CLI::Option& option,
               const CLI::ConfigItem& item) {
  if (is_flag(option)) {
    words.push_back(name_of(option));
    return;
  }
  for (const std::string& value : item.inputs) {
    words.push_back(option.get_positional() ? value : name_of(option) + '=' + value);
  }
}

void replace_config(std::vector<std::string>& line, const std::vector<std::string>& words) {
  const auto named = std::ranges::find_if(line, [](const std::string& word) {
    return word == kConfig || word.starts_with(std::string(kConfig) + '=');
  });
  if (named == line.end()) return;
  const auto end = named + (*named == kConfig ? 2 : 1);
  line.insert(line.erase(named, end), words.begin(), words.end());
}

// Returns the values of a line that have no quotes, also those within a list.
std::vector<std::string> unquoted_values(std::string_view text) {
  std::vector<std::string> values(1);
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      break;
    } else if (c == ',' || c == '[' || c == ']') {
      values.emplace_back();
    } else {
      values.back() += c;
    }
  }
  for (std::string& value : values) CLI::detail::trim(value);
  std::erase(values, "");
  return values;
}

bool is_toml_value(const std::string& text) {
  static const RE2 value(
      "true|false|0x[0-9A-Fa-f_]+|0o[0-7_]+|0b[01_]+|"
      "[+-]?(inf|nan|[0-9][0-9_]*([.][0-9][0-9_]*)?([eE][+-]?[0-9][0-9_]*)?)");
  return RE2::FullMatch(text, value);
}

// Returns true if a command of the Python package reads the section, such as [export].
bool is_python_section(std::string_view header) {
  static const RE2 first_word(R"(\[+\s*['"]?([A-Za-z0-9_-]+).*)");
  std::string command;
  return RE2::FullMatch(header, first_word, &command) && is_python_command(command);
}

CLI::FileError no_value(const std::string& file, const std::string& key) {
  return CLI::FileError(
      fmt::format("{}: key '{}' has no value; allowed: KEY = VALUE on one line", file, key));
}

void require_toml_values(const std::string& file, const std::string& key, std::string_view text) {
  std::string value(text.substr(0, text.find('#')));
  if (CLI::detail::trim(value).empty()) throw no_value(file, key);
  for (const std::string& word : unquoted_values(text)) {
    if (is_toml_value(word)) continue;
    throw CLI::FileError(fmt::format(
        "{}: key '{}' is {}, without quotes; allowed: a text in quotes, a number, true, false, "
        "or a list of them",
        file, key, word));
  }
}

// CLI11 reads INI, too. Python's commands do not, and a file serves all commands.
void require_toml(const std::string& file, const std::string& text) {
  static const RE2 bare_key("[A-Za-z0-9_-]+");
  bool of_python = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CLI::detail::trim(line);
    if (line.starts_with('[')) of_python = is_python_section(line);
    if (of_python || line.starts_with('#') || line.starts_with('[')) continue;
    if (line.starts_with(';')) {
      throw CLI::FileError(
          fmt::format("{}: '{}' is not TOML; allowed: a comment after #", file, line));
    }
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) {
      require_toml_values(file, CLI::detail::trim_copy(line.substr(0, equals)),
                          std::string_view(line).substr(equals + 1));
    } else if (RE2::FullMatch(line, bare_key) && !is_toml_value(line)) {
      throw no_value(file, line);
    }
  }
}

// Reads the file of one command. CLI11 parses it and applies what from_config() returns.
class ConfigFile : public CLI::ConfigBase {
 public:
  ConfigFile(const CLI::App& root, const CLI::App& command, std::vector<std::string>& command_line,
             ConfiguredOptions& found)
      : root_(root), command_(command), command_line_(command_line), found_(found) {}

  // Returns the items that the command line left to the file.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> chosen;
    std::set<const CLI::Option*> known;
    std::vector<std::string> words;
    for (CLI::ConfigItem& item : parsed(input)) {
      if (item.parents.empty()) item.parents = path_of(command_);
      if (is_python_command(item.parents.front())) continue;  // which reads its section itself
      const CLI::App& owner = owner_of(item);
      if (item.name == "++" || item.name == "--") continue;  // a section begins or ends
      const CLI::Option& option = option_of(owner, item);
      if (!known.insert(&option).second) {
        throw problem(item, "is given twice", "one value, or a list in brackets");
      }
      require_closed_quotes(item);
      const bool off = is_flag(option) && !is_true(item);
      if (&owner != &command_ || option.count() > 0 || off) continue;
      found_.names.push_back(name_of(option));
      add_words(words, option, item);
      chosen.push_back(std::move(item));
    }
    replace_config(command_line_, words);
    return chosen;
  }

 private:
  [[nodiscard]] std::vector<CLI::ConfigItem> parsed(std::istream& input) const {
    const std::string text{std::istreambuf_iterator<char>(input), {}};
    require_toml(found_.file, text);
    try {
      std::istringstream again(text);
      return CLI::ConfigBase::from_config(again);
    } catch (const CLI::Error& error) {
      throw CLI::FileError(fmt::format("{} is malformed: {}; allowed: TOML, KEY = VALUE a line",
                                       found_.file, error.what()));
    }
  }

  [[nodiscard]] CLI::FileError problem(const CLI::ConfigItem& item, const std::string& what,
                                       const std::string& allowed) const {
    return CLI::FileError(
        fmt::format("{}: key '{}' {}; allowed: {}", found_.file, item.name, what, allowed));
  }

  [[nodiscard]] const CLI::App& owner_of(const CLI::ConfigItem& item) const {
    const CLI::App* owner = &root_;
    for (const std::string& name : item.parents) {
      const auto commands = owner->get_subcommands([](const CLI::App*) { return true; });
      const auto found = std::ranges::find_if(
          commands, [&](const CLI::App* one) { return one->check_name(name); });
      if (found == commands.end()) {
        throw CLI::FileError(fmt::format(
            "{}: section [{}] names no command; allowed: a section such as [run] or [plan.train]",
            found_.file, fmt::join(item.parents, ".")));
      }
      owner = *found;
    }
    return *owner;
  }

  [[nodiscard]] const CLI::Option& option_of(const CLI::App& owner,
                                             const CLI::ConfigItem& item) const {
    const CLI::Option* option = owner.get_option_no_throw("--" + item.name);
    if (option == nullptr) option = owner.get_option_no_throw(item.name);
    if (option != nullptr && may_be_configured(*option)) return *option;
    throw problem(item, fmt::format("is not an option of {}", fmt::join(path_of(owner), " ")),
                  keys_of(owner));
  }

  // CLI11 hands on a quote that a line does not close.
  void require_closed_quotes(const CLI::ConfigItem& item) const {
    for (const std::string& value : item.inputs) {
      if (value.starts_with('"') || value.starts_with('\'')) {
        throw problem(item, "has a quote that is not closed before the end of the line or a #",
                      "\"text\" or 'text' on one line");
      }
    }
  }

  [[nodiscard]] bool is_true(const CLI::ConfigItem& item) const {
    const std::string value = fmt::format("{}", fmt::join(item.inputs, ", "));
    if (value == "true" || value == "false") return value == "true";
    throw problem(item, fmt::format("is '{}'", value), "true or false");
  }

  const CLI::App& root_;
  const CLI::App& command_;
  std::vector<std::string>& command_line_;
  ConfiguredOptions& found_;
};

void require_readable(const std::string& path) {
  std::error_code unknown;
  if (access(path.c_str(), R_OK) == 0 && !std::filesystem::is_directory(path, unknown)) return;
  throw CLI::FileError(
      fmt::format("--config {} cannot be read; allowed: a file of options in TOML", path));
}

bool has_options(const CLI::App& command) {
  return std::ranges::any_of(command.get_options(), [](const CLI::Option* option) {
    return option->get_configurable() && !option->get_positional();
  });
}

void for_each_command(CLI::App& app, const std::function<void(CLI::App&)>& visit) {
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    visit(*command);
    for_each_command(*command, visit);
  }
}

}  // namespace

std::string ConfiguredOptions::note() const {
  return names.empty() ? "" : fmt::format("; {} sets {}", file, fmt::join(names, ", "));
}

std::shared_ptr<const ConfiguredOptions> add_config_options(
    CLI::App& app, std::vector<std::string>& command_line) {
  const auto found = std::make_shared<ConfiguredOptions>();
  for_each_command(app, [&](CLI::App& command) {
    if (!has_options(command)) return;
    command
        .add_option_function<std::string>(
            kConfig,
            [&app, &command, &command_line, found](const std::string& path) {
              if (!found->file.empty()) {
                throw CLI::FileError(fmt::format(
                    "--config is given twice: {} and {}; allowed: one file", found->file, path));
              }
              require_readable(path);
              found->file = path;
              // Only the root of CLI11 2.1 reads a file: after the command line, before it checks
              // what is required.
              app.config_formatter(
                  std::make_shared<ConfigFile>(app, command, command_line, *found));
              app.set_config(kConfig, "", "", true)->add_result(path);
            },
            "File of options in TOML; the command line wins")
        ->trigger_on_parse()
        ->configurable(false)
        ->type_name("FILE");
  });
  return found;
}

}  // namespace ridgebench
