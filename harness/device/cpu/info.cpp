#include "harness/device/cpu/info.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

// Empty for a cache of instructions, and where the folder lacks its size.
std::optional<Cache> cache_of(const std::string& folder) {
  if (first_line(folder + "/type") == "Instruction") return std::nullopt;
  const std::string level = first_line(folder + "/level");
  const std::string size = first_line(folder + "/size");  // "512K"
  const long long kib = std::strtoll(size.c_str(), nullptr, 10);
  if (level.empty() || kib <= 0 || size.back() != 'K') return std::nullopt;
  return Cache{.level = std::atoi(level.c_str()),
               .bytes = kib << 10U,
               .shared_by = std::max(1, processors_in(first_line(folder + "/shared_cpu_map")))};
}

// The C library queries the processor, which does not report who shares a cache: a level above the
// second counts as shared by all.
std::vector<Cache> caches_by_the_c_library() {
  const auto processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  std::vector<Cache> caches;
  const std::array<int, 3> names{_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                 _SC_LEVEL3_CACHE_SIZE};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const long bytes = sysconf(names[i]);
    if (bytes <= 0) continue;
    const int level = static_cast<int>(i) + 1;
    caches.push_back({.level = level, .bytes = bytes, .shared_by = level < 3 ? 1 : processors});
  }
  return caches;
}

}  // namespace

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string value_of_key(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return {};
}

CacheInfo host_caches(const std::string& folder) {
  CacheInfo info;
  for (int index = 0; fs::exists(fmt::format("{}/index{}", folder, index)); ++index) {
    if (const auto cache = cache_of(fmt::format("{}/index{}", folder, index))) {
      info.caches.push_back(*cache);
    }
  }
  if (!info.caches.empty()) return info;
  info.caches = caches_by_the_c_library();
  info.note = folder + " is unreadable; sizes follow the caches that the C library reports";
  if (info.caches.empty()) {
    info.note = folder + " is unreadable; sizes assume a last-level cache of 32 MiB";
  }
  return info;
}

std::string cpuinfo(const std::string& key, const std::string& root) {
  return value_of_key(root + "/proc/cpuinfo", key);
}

int processors_in(const std::string& mask) {
  int count = 0;
  for (const char digit : mask) {
    if (digit == ',') continue;
    count += std::popcount(
        static_cast<unsigned>(std::strtoul(std::string(1, digit).c_str(), nullptr, 16)));
  }
  return count;
}

MemoryInfo host_memory(const std::string& proc) {
  const auto bytes = [path = proc + "/meminfo"](const std::string& key) {
    const std::string text = value_of_key(path, key);  // "24573564 kB"
    return static_cast<std::int64_t>(std::strtoll(text.c_str(), nullptr, 10)) << 10U;
  };
  MemoryInfo memory{
      .total_bytes = bytes("MemTotal"), .available_bytes = bytes("MemAvailable"), .note = {}};
  if (memory.total_bytes > 0 && memory.available_bytes > 0) return memory;
  struct sysinfo system{};
  if (sysinfo(&system) != 0) return memory;
  memory.total_bytes = static_cast<std::int64_t>(system.totalram) * system.mem_unit;
  memory.available_bytes =
      static_cast<std::int64_t>(system.freeram + system.bufferram) * system.mem_unit;
  memory.note = proc + "/meminfo is unreadable; the memory held by files counts as used";
  return memory;
}

std::string container(const std::string& root) {
  if (const char* image = std::getenv("APPTAINER_CONTAINER")) return image;
  std::ifstream podman(root + "/run/.containerenv");
  for (std::string line; std::getline(podman, line);) {
    if (line.starts_with("imageid=")) return "podman " + line.substr(line.find('=') + 1);
  }
  return std::filesystem::exists(root + "/.dockerenv") ? "docker" : "";
}

int host_sockets() {
  std::set<std::string> packages;
  for (int cpu = 0;; ++cpu) {
    const std::string id =
        first_line(fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", cpu));
    if (id.empty()) return static_cast<int>(packages.size());
    if (id != "-1") packages.insert(id);  // the firmware of some ARM boards names no package
  }
}

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) processors.push_back(cpu);
  }
  return processors;
}

std::optional<double> package_energy_j() {
  constexpr double micro = 1e-6;
  std::optional<double> joules;
  std::error_code ignored;
  for (const auto& zone : std::filesystem::directory_iterator("/sys/class/powercap", ignored)) {
    if (!first_line(zone.path() / "name").starts_with("package-")) continue;
    const std::string text = first_line(zone.path() / "energy_uj");
    if (text.empty()) return std::nullopt;
    joules = joules.value_or(0) + micro * std::strtod(text.c_str(), nullptr);
  }
  return joules;
}

std::optional<double> stolen_s() {
  std::ifstream file("/proc/stat");
  std::string label;
  std::array<double, 8> ticks{};  // user nice system idle iowait irq softirq steal
  file >> label;
  for (double& count : ticks) file >> count;
  if (!file) return std::nullopt;
  return ticks.back() / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace ridgebench
