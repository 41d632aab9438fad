#include "harness/device/cpu/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

// The files of a version, and the key of memory.stat that counts cached files.
struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* cached;
};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file"};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "inactive_file"};

// Empty for "max" and for what cannot be read.
std::optional<std::int64_t> first_number(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

std::int64_t counted_in(const fs::path& path, const std::string& wanted) {
  std::ifstream file(path);
  std::string key;
  std::int64_t value = 0;
  while (file >> key >> value) {
    if (key == wanted) return value;
  }
  return 0;
}

// Of this group and of those that hold it. A container may see its own group as the root.
std::optional<std::int64_t> least_left(const fs::path& root, const fs::path& group,
                                       const GroupFiles& names) {
  std::optional<std::int64_t> least;
  fs::path path = group.relative_path();
  while (true) {
    const fs::path folder = root / path;
    const auto limit = first_number(folder / names.limit);
    const auto usage = first_number(folder / names.usage);
    if (limit && usage) {
      const std::int64_t needed = *usage - counted_in(folder / "memory.stat", names.cached);
      const std::int64_t left = std::max<std::int64_t>(0, *limit - needed);
      least = std::min(least.value_or(left), left);
    }
    if (path.empty()) return least;
    path = path.parent_path();
  }
}

}  // namespace

std::optional<std::int64_t> memory_left_by_cgroup(const std::string& membership,
                                                  const fs::path& root) {
  std::istringstream lines(membership);  // hierarchy:controllers:path
  std::optional<std::int64_t> least;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path group = line.substr(second + 1);
    std::optional<std::int64_t> left;
    if (controllers == ",,") left = least_left(root, group, kVersion2);
    if (controllers.find(",memory,") != std::string::npos) {
      left = least_left(root / "memory", group, kVersion1);
    }
    if (left) least = std::min(least.value_or(*left), *left);
  }
  return least;
}

}  // namespace ridgebench
