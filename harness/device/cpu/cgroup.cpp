#include "harness/device/cpu/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

// Empty for "max" and where the file cannot be read.
std::optional<std::int64_t> first_number(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

// Bytes of cached files that the kernel can drop, by memory.stat.
std::int64_t inactive_file_bytes(const fs::path& stat) {
  std::ifstream file(stat);
  std::string key;
  std::int64_t value = 0;
  while (file >> key >> value) {
    if (key == "inactive_file") return value;
  }
  return 0;
}

}  // namespace

std::optional<std::int64_t> memory_left_by_cgroup(const std::string& membership,
                                                  const fs::path& root) {
  constexpr std::string_view kVersion2 = "0::";  // the line of version 2: "0::/path"
  std::istringstream lines(membership);
  std::string line;
  while (!line.starts_with(kVersion2)) {
    if (!std::getline(lines, line)) return std::nullopt;
  }
  std::optional<std::int64_t> least;
  // A container may see its own group as the root: folders that do not exist have no limit.
  fs::path group = fs::path(line.substr(kVersion2.size())).relative_path();
  while (true) {
    const fs::path folder = root / group;
    const auto limit = first_number(folder / "memory.max");
    const auto usage = first_number(folder / "memory.current");
    if (limit && usage) {
      const std::int64_t needed = *usage - inactive_file_bytes(folder / "memory.stat");
      const std::int64_t left = std::max<std::int64_t>(0, *limit - needed);
      least = std::min(least.value_or(left), left);
    }
    if (group.empty()) return least;
    group = group.parent_path();
  }
}

}  // namespace ridgebench
