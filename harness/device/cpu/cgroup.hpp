// Limits that control groups (of a container, a batch job) set for this process: memory and
// processor time. Sources: Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst,
// Documentation/scheduler/sched-bwc.rst.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ridgebench {

// The groups that limit one resource: the process's own and those around it.
class Cgroup {
 public:
  // `membership` is the text of /proc/self/cgroup, `root` the folder where the groups are mounted.
  // A process that cannot read its membership counts as a member of the root, which in a container
  // is the container's own group.
  Cgroup(const std::string& membership, const std::filesystem::path& root);
  // The groups of this process.
  static Cgroup own();

  // The line of the membership for the group that grants processors, else memory: in version 1 each
  // controller has a group of its own. Empty where there is none.
  [[nodiscard]] const std::string& line() const { return line_; }
  // Bytes that the process may still allocate: the least that any group leaves, where the kernel
  // can drop cached files. Empty without a limit.
  [[nodiscard]] std::optional<std::int64_t> memory_left() const;
  // Processors' worth of time that the tightest quota grants, such as 1.5. Empty without a quota.
  [[nodiscard]] std::optional<double> cpu_quota() const;
  // Periods in which a group had spent its quota, so that the kernel stopped its processes; since
  // the groups exist. Empty without a quota.
  [[nodiscard]] std::optional<double> throttled_periods() const;

 private:
  // A controller in one version of control groups: its folders, the process's own first.
  struct Controller {
    bool version_2;
    std::vector<std::filesystem::path> groups;
  };
  void add(const std::string& controllers, const std::string& group,
           const std::filesystem::path& root);

  std::string line_;
  std::vector<Controller> memory_;
  std::vector<Controller> cpu_;
};

}  // namespace ridgebench
