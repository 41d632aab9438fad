// What a control group (a container, a batch job) leaves this process of the host's memory.
// Sources: Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ridgebench {

// Bytes that may still be allocated, in the group and in those around it, where cached files make
// room; empty where nothing limits them. `membership` is the text of /proc/self/cgroup, `root`
// where the groups are mounted.
std::optional<std::int64_t> memory_left_by_cgroup(const std::string& membership,
                                                  const std::filesystem::path& root);

}  // namespace ridgebench
