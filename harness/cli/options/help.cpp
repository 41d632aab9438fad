#include "harness/cli/options/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "harness/base/printable.hpp"

namespace ridgebench {
namespace {

constexpr std::size_t kMargin = 24;              // where the second column begins
constexpr const char* kApart = "Other options";  // of --help-all

struct HelpPage {
  std::string command;
  std::vector<const char*> apart;     // options that few calls need
  std::vector<const char*> examples;  // words that follow the command
};

const std::vector<HelpPage> kPages = {
    {"ridgebench run",
     {"--retry", "--shapes", "--training", "--regime", "--seed", "--fill", "--no-early",
      "--no-plot", "--take-turns", "--hang-limit", "--no-restart", "--junit", "--roof", "--problem",
      "--fingerprint"},
     {"--op matmul --format bf16 --shape 4096", "--profile quick --budget 60"}},
    {"ridgebench list", {}, {"--op matmul,dot --format fp32"}},
    {"ridgebench duel",
     {"--shapes", "--model", "--tokens", "--training", "--against-itself", "--regime",
      "--processes", "--seed", "--fill", "--no-early", "--load"},
     {"packed openblas --op matmul --format fp32 --shape 1024", "--profile quick"}},
    {"ridgebench step train",
     {"--master", "--zero-grad", "--technique", "--library", "--seconds", "--seed", "--ceilings"},
     {"--layers 8 --width 1024 --batch 256",
      "--layers 8 --width 1024 --batch 256 --checkpoint sqrt --dry-run"}},
    {"ridgebench step decode",
     {"--technique", "--library", "--seconds", "--seed", "--ceilings"},
     {"--model llama-3-8b --batch 64 --context 4096 --layers 1"}},
    {"ridgebench soak",
     {"--fill", "--seed", "--slow", "--shapes", "--model", "--tokens", "--training"},
     {"--minutes 30", "--minutes 5 --format bf16 --memory 50%"}},
    {"ridgebench predict", {}, {"matmul 4096 --format bf16 --on h100"}},
    {"ridgebench predict model",
     {"--optimizer", "--precision"},
     {"llama-3-8b --on h100 --batch 1,64", "llama-3-8b --on h100 --training",
      "llama-3-70b --on h100 --tensor-parallel 8 --link nvlink4"}},
    {"ridgebench predict table", {}, {"--on h100"}},
    {"ridgebench plan train",
     {"--flops", "--reserve", "--step-tokens", "--optimizer", "--precision", "--watts", "--pue"},
     {"--parameters 70B --tokens 15T --gpus 1024 --mfu 40% --on h100"}},
    {"ridgebench plan memory", {}, {"--parameters 7B --on h100"}},
    {"ridgebench plan fits",
     {"--adapters", "--pre-activations", "--scores", "--timeline", "--micro-batches", "--link"},
     {"--model llama-3-8b --batch 1 --ranks 8 --stage 3 --on h100"}},
    {"ridgebench plan parallel",
     {"--optimizer", "--adapters", "--scores", "--micro-batches"},
     {"--model llama-3-8b --ranks 8 --batch 64 --on h100"}},
    {"ridgebench plan check",
     {"--optimizer", "--adapters", "--scores", "--micro-batches", "--host-link"},
     {"--model llama-3-8b --batch 1 --ranks 64 --stage 3 --tokens 15T --mfu 40% --link "
      "infiniband-ndr --on h100"}},
    {"ridgebench number", {}, {"0.1"}},
    {"ridgebench show", {}, {"results/local/latest"}},
    {"ridgebench explain", {}, {"results/local/latest"}},
};

// A name and its explanation in two columns. A long name has a line of its own.
std::string in_two_columns(const std::string& name, const std::string& text) {
  std::string line = "  " + name;
  if (!text.empty()) {
    if (line.size() + 2 > kMargin) line += '\n' + std::string(kMargin, ' ');
    if (line.size() < kMargin) line.resize(kMargin, ' ');
    line += wrapped(text, kMargin, kTextColumns);
  }
  return line + '\n';
}

// Each line of a text, broken between words.
std::string paragraphs(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    result += wrapped(line, 0, kTextColumns) + '\n';
  }
  return result;
}

// "ridgebench plan train"
std::string full_name(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr ? "ridgebench" : full_name(*parent) + ' ' + command.get_name();
}

// The name of the value that an option takes; empty for a flag. CLI11 appends checks after a colon.
std::string value_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0 || option.get_type_size() == 0) return "";
  static const std::map<std::string, std::string> plain = {
      {"INT", "NUMBER"}, {"UINT", "NUMBER"}, {"FLOAT", "NUMBER"}};
  std::string type = option.get_type_name();
  type.resize(std::min(type.find(':'), type.size()));
  const auto found = plain.find(type);
  return found == plain.end() ? type : found->second;
}

std::string with_value(const std::string& name, const CLI::Option& option) {
  const std::string value = value_of(option);
  return value.empty() ? name : name + ' ' + value;
}

std::string usage(const CLI::App& command) {
  std::string line = full_name(command);
  for (const CLI::Option* option : command.get_options()) {
    if (option->nonpositional() && option->get_required()) {
      line += ' ' + with_value(option->get_name(), *option);
    }
  }
  line += " [OPTIONS]";
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string dots = option->get_expected_max() > 1 ? "..." : "";
    const std::string name = value_of(*option) + dots;
    line += option->get_required() ? ' ' + name : " [" + name + ']';
  }
  if (!command.get_subcommands(nullptr).empty()) {
    line += command.get_require_subcommand_min() == 0 ? " [COMMAND]" : " COMMAND";
  }
  return wrapped("Usage: " + line, 0, kTextColumns) + '\n';
}

std::string explanation(const CLI::Option& option) {
  std::string text = option.get_description();
  if (const std::string& value = option.get_default_str(); !value.empty()) {
    text += fmt::format(" (default: {})", value);
  }
  return text;
}

// Calls that a shell takes as they are: a long one goes on after a backslash.
std::string examples_of(const CLI::App& command) {
  const auto page = std::ranges::find(kPages, full_name(command), &HelpPage::command);
  if (page == kPages.end()) return "";
  std::string text = "\nExamples:\n";
  for (const char* const words : page->examples) {
    std::string call = wrapped(page->command + ' ' + words, 4, kTextColumns - 2);
    for (std::size_t at = 0; (at = call.find('\n', at)) != std::string::npos; at += 3) {
      call.insert(at, " \\");
    }
    text += "  " + call + '\n';
  }
  return text;
}

class HelpLayout : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* command, std::string,
                        CLI::AppFormatMode mode) const override {
    std::string text = paragraphs(command->get_description()) + usage(*command);
    std::map<std::string, std::string> groups;
    std::size_t apart = 0;
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_group().empty() || option == command->get_help_ptr() ||
          option == command->get_help_all_ptr()) {
        continue;
      }
      if (option->get_positional()) {
        groups["Arguments"] += in_two_columns(value_of(*option), explanation(*option));
        continue;
      }
      groups[option->get_group()] +=
          in_two_columns(with_value(option->get_name(false, true), *option), explanation(*option));
      if (option->get_group() == kApart) ++apart;
    }
    const auto add = [&](const std::string& title, const std::string& lines) {
      if (!lines.empty()) text += fmt::format("\n{}:\n{}", title, lines);
    };
    add("Arguments", groups["Arguments"]);
    add("Options", groups["Options"]);
    const bool all = mode == CLI::AppFormatMode::All;
    if (all) add(kApart, groups[kApart]);
    std::string commands;
    for (const CLI::App* one : command->get_subcommands(nullptr)) {
      if (!one->get_group().empty()) {
        commands += in_two_columns(one->get_name(), one->get_description());
      }
    }
    add("Commands", commands);
    if (apart > 0 && !all) {
      text +=
          fmt::format("\n`{} --help-all` lists {} other options.\n", full_name(*command), apart);
    }
    if (!command->get_footer().empty()) text += '\n' + paragraphs(command->get_footer());
    return text + examples_of(*command);
  }
};

}  // namespace

void lay_out_help(CLI::App& app) {
  static const auto layout = std::make_shared<HelpLayout>();
  app.formatter(layout);
  app.set_help_all_flag("--help-all", "Print all options and exit");
  for (CLI::App* command : app.get_subcommands(nullptr)) lay_out_help(*command);
  const auto page = std::ranges::find(kPages, full_name(app), &HelpPage::command);
  if (page == kPages.end()) return;
  for (const char* const option : page->apart) app.get_option(option)->group(kApart);
}

}  // namespace ridgebench
