// The memory that a control group (a container, a batch job) leaves this process.
// Source: Linux, Documentation/admin-guide/cgroup-v2.rst.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ridgebench {

// Bytes that this process may still allocate: the least that its group and the groups around it
// leave, where the kernel can drop cached files. Empty without a limit, and where the host uses
// version 1 of control groups. `membership` is the text of /proc/self/cgroup, `root` the folder
// where the groups are mounted.
std::optional<std::int64_t> memory_left_by_cgroup(const std::string& membership,
                                                  const std::filesystem::path& root);

}  // namespace ridgebench
