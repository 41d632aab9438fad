#include "harness/cli/python/python_commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/child.hpp"
#include "harness/base/process.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/python_command_table.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLauncher = "ridgebench/launch.py";        // below the package's folder
constexpr const char* kInstalled = "share/ridgebench/roofline";  // below the prefix
constexpr const char* kEnvironment = ".venv/bin/python";         // below the checkout or the prefix
constexpr const char* kWheelPython = "../../../bin/python3";     // from lib/python3.x/site-packages
constexpr double kLongestAnswerSeconds = 60;                     // for an answer
constexpr int kCheckoutDepth = 3;  // levels from the binary's folder up to the checkout's root

struct Package {
  fs::path binary;  // this program
  fs::path folder;  // holds ridgebench/
  fs::path python;  // of the environment that belongs to it; may be missing
};

bool holds_package(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "ridgebench" / "__main__.py", ignored);
}

Package find_package() {
  std::error_code unknown;
  const fs::path binary = fs::read_symlink("/proc/self/exe", unknown);
  fs::path root = binary.parent_path();
  const fs::path prefix = root.parent_path();
  const fs::path installed = prefix / kInstalled;
  if (binary.empty())
    throw UsageError("/proc/self/exe is unreadable; allowed: a system with /proc");
  if (holds_package(installed)) return {binary, installed, prefix / kEnvironment};
  // A wheel: site-packages/ridgebench/tree/bin/ridgebench.
  const fs::path packages = prefix.parent_path().parent_path();
  if (holds_package(packages)) return {binary, packages, packages / kWheelPython};
  for (int level = 0; level < kCheckoutDepth; ++level) {
    root = root.parent_path();
    if (holds_package(root / "roofline")) return {binary, root / "roofline", root / kEnvironment};
  }
  throw UsageError(
      fmt::format("the Python package ridgebench is missing; allowed: in {}, where `cmake "
                  "--install` puts it, or in the checkout that holds the binary",
                  installed.string()));
}

std::string interpreter(const fs::path& own) {
  const char* chosen = std::getenv("RIDGEBENCH_PYTHON");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return access(own.c_str(), X_OK) == 0 ? own.string() : "python3";
}

// Replaces this process by the command. Returns if it cannot.
void become(const std::string& python, const Package& package,
            const std::vector<std::string>& words) {
  const std::string launcher = (package.folder / kLauncher).string();
  const std::string binary = package.binary.string();
  std::vector<const char*> arguments{python.c_str(), launcher.c_str(), binary.c_str()};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  arguments.push_back(nullptr);
  execvp(python.c_str(), const_cast<char* const*>(arguments.data()));
}

}  // namespace

void list_python_commands(CLI::App& app) {
  for (const auto& [name, what] : kPythonCommands) {
    app.add_subcommand(std::string(name), std::string(what));
  }
}

bool is_python_command(std::string_view command) {
  return std::ranges::any_of(kPythonCommands,
                             [&](const auto& entry) { return entry.first == command; });
}

PythonOfCommands python_of_commands() {
  try {
    return {.interpreter = interpreter(find_package().python), .no_package = {}};
  } catch (const UsageError& error) {
    return {.interpreter = interpreter({}), .no_package = error.what()};
  }
}

std::string answer_of_python(const std::vector<std::string>& words) try {
  const Package package = find_package();
  const std::string python = interpreter(package.python);
  Child child([&](int descriptor) {
    dup2(descriptor, STDOUT_FILENO);
    if (freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
    become(python, package, words);
    _exit(1);
  });
  return child.wait(steady_s() + kLongestAnswerSeconds).text;
} catch (const UsageError&) {
  return {};
}

void run_python_command(int argc, char** argv) {
  const Package package = find_package();
  const std::string python = interpreter(package.python);
  block_ending_signals();  // roofline/ridgebench/interruption.py unblocks them
  become(python, package, {argv + 1, argv + argc});
  throw UsageError(fmt::format(
      "cannot run {}: {}; `{}` needs Python 3.9 or newer with numpy, scipy and matplotlib "
      "(scripts/setup.sh installs them), and RIDGEBENCH_PYTHON names another",
      python, std::strerror(errno), argv[1]));
}

}  // namespace ridgebench
