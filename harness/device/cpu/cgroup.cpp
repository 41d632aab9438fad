#include "harness/device/cpu/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
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

// The number after a key in a file of "key number" lines.
std::optional<std::int64_t> number_of(const fs::path& path, const std::string& wanted) {
  std::ifstream file(path);
  std::string key;
  std::int64_t value = 0;
  while (file >> key >> value) {
    if (key == wanted) return value;
  }
  return std::nullopt;
}

// The group and those around it. A container may see its own group as the root: folders that do
// not exist have no limit.
std::vector<fs::path> chain(const fs::path& mount, const std::string& membership) {
  std::vector<fs::path> folders;
  fs::path group = fs::path(membership).relative_path();
  while (!group.empty()) {
    folders.push_back(mount / group);
    group = group.parent_path();
  }
  folders.push_back(mount);
  return folders;
}

// Version 1 lists a controller among others: "cpu,cpuacct".
bool lists(const std::string& controllers, std::string_view wanted) {
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == wanted) return true;
  }
  return false;
}

// How much the group of these controllers says about the limits of a process.
int tells_limits(const std::string& controllers) {
  if (lists(controllers, "cpu")) return 3;
  if (lists(controllers, "memory")) return 2;
  return controllers.empty() ? 1 : 0;  // empty: version 2, which has all, or none beside version 1
}

std::optional<std::int64_t> memory_left_in(const fs::path& folder, bool version_2) {
  const auto limit = first_number(folder / (version_2 ? "memory.max" : "memory.limit_in_bytes"));
  const auto usage =
      first_number(folder / (version_2 ? "memory.current" : "memory.usage_in_bytes"));
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 60U;  // version 1 writes a huge number
  if (!limit || !usage || *limit >= kNoLimit) return std::nullopt;
  const auto cached =
      number_of(folder / "memory.stat", version_2 ? "inactive_file" : "total_inactive_file");
  return std::max<std::int64_t>(0, *limit - *usage + cached.value_or(0));
}

std::optional<double> cpu_quota_of(const fs::path& folder, bool version_2) {
  double quota = 0;
  double period = 0;
  if (version_2) {
    std::ifstream file(folder / "cpu.max");  // "150000 100000", or "max 100000"
    if (!(file >> quota >> period)) return std::nullopt;
  } else {
    quota = static_cast<double>(first_number(folder / "cpu.cfs_quota_us").value_or(-1));
    period = static_cast<double>(first_number(folder / "cpu.cfs_period_us").value_or(0));
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

// The least value that `read` finds in a group.
template <class Controllers, class Read>
auto least(const Controllers& controllers, Read read) {
  decltype(read(fs::path(), true)) result;
  for (const auto& controller : controllers) {
    for (const fs::path& folder : controller.groups) {
      const auto value = read(folder, controller.version_2);
      if (value) result = std::min(result.value_or(*value), *value);
    }
  }
  return result;
}

}  // namespace

Cgroup::Cgroup(const std::string& membership, const fs::path& root) {
  std::istringstream lines(membership);
  bool member = false;
  int best = -1;
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/group", "0::/group"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    add(controllers, line.substr(second + 1), root);
    member = true;
    if (const int now = tells_limits(controllers); now > best) {
      best = now;
      line_ = line;
    }
  }
  if (member) return;
  for (const char* controllers : {"", "memory", "cpu"}) add(controllers, "/", root);
}

void Cgroup::add(const std::string& controllers, const std::string& group, const fs::path& root) {
  if (controllers.empty()) {
    for (const fs::path& mount : {root, root / "unified"}) {  // beside version 1
      memory_.push_back({.version_2 = true, .groups = chain(mount, group)});
      cpu_.push_back({.version_2 = true, .groups = chain(mount, group)});
    }
    return;
  }
  // The folder has the name of the list, and links with the name of each controller.
  if (lists(controllers, "memory")) {
    memory_.push_back({.version_2 = false, .groups = chain(root / "memory", group)});
  }
  if (lists(controllers, "cpu")) {
    cpu_.push_back({.version_2 = false, .groups = chain(root / "cpu", group)});
  }
}

Cgroup Cgroup::own() {
  std::ifstream file("/proc/self/cgroup");
  return {std::string(std::istreambuf_iterator<char>(file), {}), "/sys/fs/cgroup"};
}

std::optional<std::int64_t> Cgroup::memory_left() const { return least(memory_, memory_left_in); }

std::optional<double> Cgroup::cpu_quota() const { return least(cpu_, cpu_quota_of); }

std::optional<double> Cgroup::throttled_periods() const {
  std::optional<double> periods;
  for (const Controller& controller : cpu_) {
    for (const fs::path& folder : controller.groups) {
      if (!cpu_quota_of(folder, controller.version_2)) continue;
      const auto count = number_of(folder / "cpu.stat", "nr_throttled");
      if (count) periods = periods.value_or(0) + static_cast<double>(*count);
    }
  }
  return periods;
}

}  // namespace ridgebench
