#include "harness/cli/completion/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "harness/build_info.hpp"
#include "harness/cli/completion/shells.hpp"

namespace ridgebench {
namespace {

using Entry = std::pair<std::string_view, std::string_view>;

// A test compares both tables with docs/commands.md.
constexpr std::array kExitCodes{
    Entry{"0", "The command did what it was started for."},
    Entry{"2", "The request makes no sense, or a file cannot be read or written."},
    Entry{"3",
          "The command was interrupted, or the disk is full; finished rows and duels are kept. A "
          "comparison or a duel is undecided."},
    Entry{"4", "A comparison found a row that is worse or missing."},
    Entry{"5", "The runs must not be compared; the message names the key that differs."},
    Entry{"6",
          "A row is wrong, suspect, invalid or failed, or none could be measured. The host has too "
          "little "
          "memory. `verify` found something."},
    Entry{"7", "The device is absent, cannot be used, or was lost."},
    Entry{"8", "The program has an internal error."}};
constexpr std::array kManualVariables{
    Entry{"OMP_NUM_THREADS",
          "lowers the number of threads of a host; `threads_limited_by` in `environment.json` says "
          "so"},
    Entry{"RIDGEBENCH_PYTHON",
          "names the Python interpreter of `plot`, `compare`, `gate` and the other commands in "
          "Python"},
    Entry{"RIDGEBENCH_LIBRARY", "names the `libridgebench.so` that kernels in Python use"},
    Entry{"RIDGEBENCH_CHECK_SEED",
          "repeats the choice of rows and signs that a run verified (`verify.seed`)"},
    Entry{"RIDGEBENCH_UNGATED",
          "starts launches on a GPU without a gate, for profilers and sanitizers; times then "
          "contain the host's share"}};

constexpr std::size_t kManualColumns = 78;

std::string roff_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '-') result += '\\';
    result += c == '\\' ? 'e' : c;
  }
  return result;
}

// The text as roff reads it: lines of 78 columns, each sentence on a new one.
std::string roff(const std::string& text) {
  std::string result;
  std::size_t column = 0;
  bool ended = false;  // the sentence
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::string shown = roff_escaped(word);
    const bool wraps = column > 0 && (ended || column + 1 + shown.size() > kManualColumns);
    if (wraps) column = 0;
    if (!result.empty()) result += wraps ? '\n' : ' ';
    if (column == 0 && (word.front() == '.' || word.front() == '\'')) result += "\\&";
    result += shown;
    column += shown.size() + 1;
    ended = word.ends_with('.') && !word.ends_with("..");
  }
  return result;
}

std::string sentence(const std::string& text) {
  if (text.empty()) return "";
  return roff(text) + (text.ends_with('.') ? "\n" : ".\n");
}

std::string entry_text(std::string_view head, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", head, roff(text));
}

// "\fB\-o\fR, \fB\-\-out\fR \fIDIR\fR"
std::string head_of(const CommandOption& option) {
  if (option.positional) return fmt::format("\\fI{}\\fR", roff_escaped(option.names.front()));
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    names.push_back(fmt::format("\\fB{}\\fR", roff_escaped(name)));
  }
  const std::string value =
      option.takes_value() ? fmt::format(" \\fI{}\\fR", roff_escaped(option.type)) : "";
  return fmt::format("{}{}", fmt::join(names, ", "), value);
}

bool is_help(const CommandOption& option) {
  return std::ranges::find(option.names, "--help") != option.names.end();
}

std::string section_of(const PlacedCommand& placed) {
  const Command& command = *placed.command;
  std::string text =
      fmt::format(".SS ridgebench {}\n{}", roff_escaped(placed.place), sentence(command.help));
  for (const CommandOption& option : command.options) {
    if (!is_help(option)) text += entry_text(head_of(option), option.help);
  }
  return command.footer.empty() ? text : text + ".PP\n" + sentence(command.footer);
}

template <class Table>
std::string manual_table(const char* heading, const Table& table) {
  std::string text = fmt::format(".SH {}\n", heading);
  for (const auto& [head, what] : table) {
    text += entry_text(fmt::format("\\fB{}\\fR", roff_escaped(head)), std::string(what));
  }
  return text;
}

}  // namespace

std::string manual(const Command& root) {
  std::string text = fmt::format(
      ".TH RIDGEBENCH 1 \"{}\" \"ridgebench {}\" \"User Commands\"\n"
      ".SH NAME\nridgebench \\- measure deep learning's operations against the roofline\n"
      ".SH SYNOPSIS\n.B ridgebench\n.I COMMAND\n.RI [ OPTION ...]\n"
      ".SH DESCRIPTION\n{}"
      "\\fBridgebench\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR prints its part of this page.\n"
      ".SH COMMANDS\n",
      build_info::commit_date, build_info::version, sentence(root.help));
  for (const PlacedCommand& placed : placed_commands(root)) {
    if (!placed.place.empty()) text += section_of(placed);
  }
  return text + manual_table("EXIT STATUS", kExitCodes) +
         manual_table("ENVIRONMENT", kManualVariables);
}

}  // namespace ridgebench
