// Why a process that measured a GPU did not end with code 0.
#pragma once

#include <filesystem>
#include <string>

namespace ridgebench::node {

struct Failure {
  std::string reason;  // one line
  bool hung = false;   // its own watchdog ended it
};

// By the rows and the log in the folder of a process that ended with this code.
Failure failure_of(const std::filesystem::path& folder, int code);

}  // namespace ridgebench::node
