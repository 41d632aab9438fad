#include "harness/base/python/python_package.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "harness/base/process.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLauncher = "ridgebench/launch.py";        // below the package's folder
constexpr const char* kInstalled = "share/ridgebench/roofline";  // below the prefix
constexpr const char* kEnvironment = ".venv/bin/python";         // below the checkout or the prefix
constexpr const char* kWheelPython = "../../../bin/python3";     // from lib/python3.x/site-packages
constexpr int kCheckoutDepth = 3;  // levels from the binary's folder up to the checkout's root

bool holds_package(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "ridgebench" / "__main__.py", ignored);
}

}  // namespace

PythonPackage find_python_package() {
  std::error_code unknown;
  const fs::path binary = fs::read_symlink(kThisProgram, unknown);
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

std::string python_interpreter(const fs::path& own) {
  const char* chosen = std::getenv("RIDGEBENCH_PYTHON");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return access(own.c_str(), X_OK) == 0 ? own.string() : "python3";
}

std::vector<std::string> PythonPackage::command(const std::vector<std::string>& words) const {
  std::vector<std::string> all{python_interpreter(own), (folder / kLauncher).string(),
                               binary.string()};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

}  // namespace ridgebench
