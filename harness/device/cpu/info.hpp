// Facts that Linux reports of this host. What cannot be read is empty or zero; the caller records
// why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/machine.hpp"

namespace ridgebench {

struct CacheInfo {
  std::vector<Cache> caches;  // data and unified ones of the first processor, level 1 first
  std::string note;           // where the numbers are less good than the kernel's
};
// By the kernel's folder, or by the C library where there is none.
CacheInfo host_caches(const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");

struct MemoryInfo {
  std::int64_t total_bytes = 0;
  std::int64_t available_bytes = 0;  // free, or held by files that the kernel can drop
  std::string note;                  // where the numbers are less good than /proc/meminfo's
};
// By /proc/meminfo, or by sysinfo(2) where the folder `proc` lacks it.
MemoryInfo host_memory(const std::string& proc = "/proc");
// The value after "key<blanks>:" in a file of such lines; empty if there is none.
std::string value_of_key(const std::string& path, const std::string& key);
// First value of a key of /proc/cpuinfo, e.g. "model name", below `root`.
std::string cpuinfo(const std::string& key, const std::string& root = "");
// Processors in a mask such as "00000000,00000003".
int processors_in(const std::string& mask);
// First line of a file without its newline; empty where unreadable.
std::string first_line(const std::string& path);
// The image of the container that this process runs in: Apptainer's file, Podman's imageid, or
// "docker"; empty without a sign of a container. `root` precedes the names of the files.
std::string container(const std::string& root = "");
// Processor packages; 0 if unknown.
int host_sockets();
// Processors this process may run on.
std::vector<int> allowed_processors();

// Joules of all processor packages (Linux, Documentation/power/powercap). Only root may read them.
std::optional<double> package_energy_j();
// Seconds, summed over all processors, that a hypervisor gave to other guests (proc(5), /proc/stat,
// steal).
std::optional<double> stolen_s();

}  // namespace ridgebench
