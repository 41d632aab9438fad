// The build, the host, Python, and the rows that will be skipped.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "harness/cli/doctor/conditions.hpp"
#include "harness/cli/doctor/finding.hpp"

namespace ridgebench::doctor {
namespace {

constexpr double kGiB = 0x1p30;

void judge_processors(const Facts& host, Judge& judge) {
  const double threads = number_at(host, "/threads").value_or(0);
  if (const auto quota = number_at(host, "/cpu_quota")) {
    judge.note("cpu_quota",
               fmt::format("a control group grants {:g} processors; {:.0f} threads are used",
                           *quota, threads),
               "raise the CPU limit of the container or the job");
  }
  const double cores = number_at(host, "/cores").value_or(0);
  const double online = number_at(host, "/online_processors").value_or(cores);
  if (cores < online) {
    judge.note("affinity",
               fmt::format("this process may run on {:.0f} of {:.0f} processors", cores, online),
               "taskset -cp $$; request more from the scheduler");
  }
  if (const std::string by = text_at(host, "/threads_limited_by");
      !by.empty() && by != "processors") {
    judge.note("threads_limited", fmt::format("{:.0f} threads on {:.0f} processors, limited by {}",
                                              threads, cores, by));
  }
  judge_conditions(host, std::max(1.0, threads / 2), judge);
  if (flag_at(host, "/virtualized")) {
    judge.note(
        "virtual_machine",
        "a virtual machine: neighbours change the host's numbers, and its clock is not known");
  }
}

void judge_host_memory(const Facts& host, Judge& judge) {
  const double available = number_at(host, "/available_memory_bytes").value_or(0);
  const auto left = number_at(host, "/memory_left_in_group_bytes");
  constexpr double kEnough = 4 * kGiB;
  const double usable = std::min(available, left.value_or(available));
  if (usable < kEnough) {
    judge.warn(
        "little_memory",
        fmt::format("{:.1f} GiB of memory can be used: large rows are skipped", usable / kGiB),
        left && *left < available ? "raise the memory limit of the container or the job"
                                  : "ps aux --sort=-rss | head");
  }
  if (text_at(host, "/huge_pages").find("[never]") != std::string::npos) {
    judge.note("huge_pages_off", "transparent huge pages are off: host rows lose to TLB misses",
               "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled");
  }
  const auto swap = number_at(host, "/swap_bytes");
  const auto free_swap = number_at(host, "/free_swap_bytes");
  if (swap && free_swap && *swap - *free_swap > kGiB) {
    judge.note("swap_in_use",
               fmt::format("{:.1f} GiB are swapped out", (*swap - *free_swap) / kGiB), "free -h");
  }
  constexpr double kResults = 100e6;  // a full run leaves some megabytes
  const auto disk = number_at(host, "/free_disk_bytes");
  if (disk && *disk < kResults) {
    judge.warn("little_disk", fmt::format("{:.0f} MB are free here for results", *disk / 1e6),
               "df -h .; or run --out DIR on another disk");
  }
  constexpr double kUsualStack = 8 << 20;
  const auto stack = number_at(host, "/stack_limit_bytes");
  if (stack && *stack < kUsualStack) {
    judge.note("small_stack", fmt::format("the stack is limited to {:.0f} KiB", *stack / 1024),
               "ulimit -s 8192");
  }
}

}  // namespace

int cuda_of_build(const Facts& facts) {
  const std::string text = text_at(facts, "/build/cuda");  // "nvcc 13.0.88, architectures ..."
  int major = 0;
  int minor = 0;
  return std::sscanf(text.c_str(), "nvcc %d.%d", &major, &minor) == 2 ? 1000 * major + 10 * minor
                                                                      : 0;
}

int cuda_major_of_build(const Facts& facts) { return cuda_of_build(facts) / 1000; }

void judge_build(const Facts& facts, Findings& to) {
  Judge judge(to, "build");
  const std::string cuda = text_at(facts, "/build/cuda");
  const std::string commit = text_at(facts, "/build/commit").substr(0, 7);
  const std::string type = text_at(facts, "/build/build_type");
  judge.ok("build",
           fmt::format("ridgebench {}{}{}; {}; {}", text_at(facts, "/build/version"),
                       commit.empty() ? "" : ", commit " + commit,
                       flag_at(facts, "/build/dirty") ? " with changes" : "",
                       text_at(facts, "/build/compiler"), cuda.empty() ? "without CUDA" : cuda));
  if (type != "Release" && type != "RelWithDebInfo") {
    judge.warn(
        "debug_build",
        fmt::format("the build type is {}: its numbers are too low", type.empty() ? "empty" : type),
        "scripts/build.sh release (or cuda)");
  }
}

void judge_host(const Facts& facts, Findings& to) {
  Judge judge(to, "host");
  const Facts& host = value_at(facts, "/host");
  const std::string model = text_at(host, "/cpu_model");
  judge.ok("host",
           fmt::format("{}, {:.0f} threads, {}, {:.1f} of {:.1f} GiB free, {}",
                       model.empty() ? "unknown processor" : model,
                       number_at(host, "/threads").value_or(0), text_at(host, "/isa"),
                       number_at(host, "/available_memory_bytes").value_or(0) / kGiB,
                       number_at(host, "/memory_bytes").value_or(0) / kGiB, text_at(host, "/os")));
  judge_processors(host, judge);
  judge_host_memory(host, judge);
}

void judge_python(const Facts& facts, Findings& to) {
  Judge judge(to, "python");
  const Facts& python = value_at(facts, "/python");
  const std::string name = text_at(python, "/interpreter");
  const Facts& version = value_at(python, "/version");
  const char* const needed = "only plot, report, compare, gate and import need it";
  if (!version.is_array()) {
    judge.note("python_missing", fmt::format("{} does not run; {}", name, needed),
               "sudo apt install python3; or RIDGEBENCH_PYTHON=FILE names another");
    return;
  }
  const std::string text = fmt::format("{} {}.{}.{}", name, version[0].get<int>(),
                                       version[1].get<int>(), version[2].get<int>());
  std::vector<std::string> missing;
  for (const Facts& package : value_at(python, "/missing"))
    missing.push_back(package.get<std::string>());
  if (version[0].get<int>() < 3 || (version[0].get<int>() == 3 && version[1].get<int>() < 9)) {
    judge.note("python_too_old", fmt::format("{} is older than 3.9; {}", text, needed),
               "RIDGEBENCH_PYTHON=FILE names another");
  } else if (!missing.empty()) {
    judge.note("python_packages",
               fmt::format("{} lacks {}; {}", text, fmt::join(missing, ", "), needed),
               fmt::format("{} -m pip install {}", name, fmt::join(missing, " ")));
  } else if (const std::string reason = text_at(python, "/no_package"); !reason.empty()) {
    judge.note("python_package_missing", reason, "cmake --install, or the checkout's build folder");
  } else {
    judge.ok("python", text + " with all packages");
  }
}

void judge_rows(const Facts& facts, Findings& to) {
  for (const Facts& device : value_at(facts, "/skipped")) {
    Judge judge(to, "rows", text_at(device, "/device"));
    double skipped = 0;
    for (const Facts& reason : device["skipped"]) skipped += reason["rows"].get<double>();
    const double rows = number_at(device, "/rows").value_or(0);
    judge.ok("rows", fmt::format("{:.0f} of {:.0f} rows of the quick profile can run",
                                 rows - skipped, rows));
    for (const Facts& reason : device["skipped"]) {
      judge.note("rows_skipped", fmt::format("{} skipped: {}", reason["rows"].get<int>(),
                                             text_at(reason, "/reason")));
    }
  }
}

Findings judge(const Facts& facts) {
  Findings findings;
  judge_build(facts, findings);
  judge_driver(facts, findings);
  for (const Facts& gpu : value_at(facts, "/gpus")) judge_gpu(facts, gpu, findings);
  judge_libraries(facts, findings);
  judge_host(facts, findings);
  judge_python(facts, findings);
  judge_rows(facts, findings);
  return findings;
}

}  // namespace ridgebench::doctor
