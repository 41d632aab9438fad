// Zsh: as bash.cpp, with a description next to each command and option.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/cli/completion/shells.hpp"

namespace ridgebench {
namespace {

constexpr const char* kZshFunctions = R"(
_ridgebench() {
  local place= previous= word files= current=$words[CURRENT]
  local -a commands options values
  for word in ${words[2,CURRENT-1]}; do
    _ridgebench_is_command "${place:+$place }$word" && place=${place:+$place }$word
    previous=$word
  done
  if [[ $current == --*=* ]]; then
    previous=${current%%=*}
    compset -P '*='
  fi
  if [[ $previous != -* ]] || ! _ridgebench_value "$place $previous"; then
    _ridgebench_command "$place"
    (( $#commands )) && _describe -t commands command commands
    if [[ $current == -* ]] || (( ! $#commands && ! $#values && ! $#files )); then
      _describe -o -t options option options
    fi
  fi
  (( $#values )) && compadd -a values
  [[ -n $files ]] && _files
}

if [[ $funcstack[1] == _ridgebench ]]; then
  _ridgebench "$@"
else
  compdef _ridgebench ridgebench
fi
)";

// 'NAME:HELP', as _describe takes it.
std::string entry(std::string name, const std::string& help) {
  for (std::size_t at = 0; (at = name.find(':', at)) != std::string::npos; at += 2) {
    name.insert(at, "\\");
  }
  return quoted(name + ':' + short_help(help));
}

std::string words_of(const std::vector<std::string>& values) {
  std::vector<std::string> words;
  for (const std::string& value : values) words.push_back(quoted(value));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string zsh_variables_of(const Command& command) {
  std::vector<std::string> commands;
  std::vector<std::string> options;
  std::vector<std::string> values;
  bool files = false;
  for (const Command& one : command.commands) commands.push_back(entry(one.name, one.help));
  for (const CommandOption& option : command.options) {
    if (option.positional) {
      values.insert(values.end(), option.values.begin(), option.values.end());
      files = files || option.files;
      continue;
    }
    for (const std::string& name : option.names) options.push_back(entry(name, option.help));
  }
  return fmt::format("\n      commands=({})\n      options=({})\n      values=({}) files={}",
                     fmt::join(commands, " "), fmt::join(options, " "), words_of(values),
                     files ? "1" : "");
}

}  // namespace

std::string zsh_completion(const Command& root) {
  return "#compdef ridgebench\n"
         "# Zsh completion of ridgebench, printed by `ridgebench completion zsh`.\n\n" +
         shell_functions(root, {.command = zsh_variables_of,
                                .value =
                                    [](const CommandOption& option) {
                                      return fmt::format("values=({}) files={}",
                                                         words_of(option.values),
                                                         option.files ? "1" : "");
                                    }}) +
         kZshFunctions;
}

}  // namespace ridgebench
