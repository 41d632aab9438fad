// What Linux says of this host. Unreadable facts are empty or zero; the caller records why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/common/machine.hpp"

namespace ridgebench {

// Data and unified caches of the first processor, level 1 first (/sys/devices/system/cpu).
std::vector<Cache> host_caches();
// First value of a /proc/cpuinfo key, e.g. "model name".
std::string cpuinfo(const std::string& key);
// Bytes of a /proc/meminfo key, e.g. "MemAvailable".
std::int64_t meminfo(const std::string& key);
// First line of a file without its newline; empty where unreadable.
std::string first_line(const std::string& path);
// The container's image as far as it can be known from inside: Apptainer's file, Podman's imageid,
// or that it is Docker's; empty where nothing tells of one.
std::string container();
// Processor packages; 0 where unknown.
int host_sockets();
// Processors this process may run on.
std::vector<int> allowed_processors();

}  // namespace ridgebench
