// Answers many command lines in one process: each line of stdin is a JSON array of words. What the
// command prints to stdout and stderr is followed by a record separator and the exit code.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/cli/commands.hpp"

int main() {
  dup2(STDOUT_FILENO, STDERR_FILENO);
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::string> words = nlohmann::json::parse(line);
    words.insert(words.begin(), "ridgebench");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int code = ridgebench::run_command_line(static_cast<int>(words.size()), arguments.data());
    std::printf("\x1e%d\n", code);
    (void)std::fflush(stdout);
  }
}
