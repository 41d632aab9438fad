// The Python package of this program, and the interpreter that runs it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ridgebench {

struct PythonPackage {
  std::filesystem::path binary;  // this program
  std::filesystem::path folder;  // holds ridgebench/
  std::filesystem::path own;  // interpreter of the environment that belongs to it; may be missing

  // The interpreter and its arguments that run a command of the package.
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& words) const;
};

// The package of the checkout or of the installation that holds the program. Throws UsageError.
PythonPackage find_python_package();

// The interpreter that the variable RIDGEBENCH_PYTHON names, else `own`, else python3.
std::string python_interpreter(const std::filesystem::path& own);

// Advice on an interpreter that does not start.
inline constexpr const char* kNeedsPython =
    "needs Python 3.9 or newer with numpy, scipy and matplotlib (scripts/setup.sh installs them), "
    "and RIDGEBENCH_PYTHON names another";

}  // namespace ridgebench
