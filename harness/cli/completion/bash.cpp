// Bash: one function lists the words that a command takes, one finds the command in the words so
// far.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/cli/completion/shells.hpp"

namespace ridgebench {
namespace {

// Readline replaces only what follows the last = or : of a word, which are in COMP_WORDBREAKS.
constexpr const char* kBashFunctions = R"(
_ridgebench() {
  local line=${COMP_LINE:0:COMP_POINT} current= previous= place= word files= values= commands= options=
  local -a words
  read -ra words <<<"$line"
  if [[ $line != *[[:blank:]] ]]; then
    current=${words[${#words[@]} - 1]}
    words=("${words[@]:0:${#words[@]}-1}")
  fi
  for word in "${words[@]:1}"; do
    _ridgebench_is_command "${place:+$place }$word" && place=${place:+$place }$word
    previous=$word
  done
  if [[ $current == --*=* ]]; then
    previous=${current%%=*}
    current=${current#*=}
  fi
  if [[ $previous != -* ]] || ! _ridgebench_value "$place $previous"; then
    _ridgebench_command "$place"
    [[ $current == -* || ( -z $values && -z $files ) ]] && values="$values $options"
  fi
  COMPREPLY=($(compgen -W "$values" -- "$current"))
  [[ -n $files && ${#COMPREPLY[@]} -eq 0 ]] && compopt -o default 2>/dev/null
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*:}"}"}")
  fi
  return 0
}
complete -F _ridgebench ridgebench
)";

std::string list_of(const std::vector<std::string>& words) {
  return quoted(fmt::format("{}", fmt::join(words, " ")));
}

// The values are the commands below it and those of its arguments.
std::string bash_variables_of(const Command& command) {
  std::vector<std::string> values;
  std::vector<std::string> options;
  bool files = false;
  for (const Command& one : command.commands) values.push_back(one.name);
  for (const CommandOption& option : command.options) {
    auto& list = option.positional ? values : options;
    const auto& words = option.positional ? option.values : option.names;
    list.insert(list.end(), words.begin(), words.end());
    files = files || (option.positional && option.files);
  }
  return fmt::format("values={} options={} files={}", list_of(values), list_of(options),
                     files ? "1" : "");
}

}  // namespace

std::string bash_completion(const Command& root) {
  return "# Bash completion of ridgebench, printed by `ridgebench completion bash`.\n\n" +
         shell_functions(root, {.command = bash_variables_of,
                                .value =
                                    [](const CommandOption& option) {
                                      return fmt::format("values={} files={}",
                                                         list_of(option.values),
                                                         option.files ? "1" : "");
                                    }}) +
         kBashFunctions;
}

}  // namespace ridgebench
