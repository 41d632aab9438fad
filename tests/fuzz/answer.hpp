// Answers command lines of the program in this process, for readers that only a command calls.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "harness/cli/commands.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

// Returns true if the command took its words. An internal error is a crash: no file may cause one.
inline bool answer(std::vector<std::string> words) {
  words.insert(words.begin(), "ridgebench");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int code = run_command_line(static_cast<int>(words.size()), arguments.data());
  if (code == static_cast<int>(ExitCode::internal)) std::abort();
  return code == static_cast<int>(ExitCode::fine);
}

}  // namespace ridgebench
