// The host, the libraries that the program loads, and the rows that a device cannot run.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ranges>
#include <vector>

#include "harness/base/build_info.hpp"
#include "harness/base/loaded_file.hpp"
#include "harness/cli/doctor/facts.hpp"
#include "harness/cli/doctor/finding.hpp"
#include "harness/cli/doctor/listed_device.hpp"
#include "harness/cli/machine_facts.hpp"
#include "harness/device/cpu/cgroup.hpp"
#include "harness/device/cpu/device.hpp"
#include "harness/device/cpu/info.hpp"
#include "harness/measure/case.hpp"
#include "kernels/common/cpu/onednn.hpp"
#include "kernels/common/cpu/openblas.hpp"
#include "kernels/common/lib/library_folders.hpp"
#include "kernels/common/shared_library.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench::doctor {
namespace {

// Opened once: it pins the threads of this process.
CpuDevice& this_host() {
  static CpuDevice host;
  return host;
}

Facts stack_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return nullptr;
  return limit.rlim_cur;
}

Facts free_disk() {
  std::error_code unknown;
  const auto space = std::filesystem::space(std::filesystem::current_path(unknown), unknown);
  return unknown ? Facts(nullptr) : Facts(space.available);
}

// "1234 kB" of /proc/meminfo in bytes.
Facts meminfo(const std::filesystem::path& root, const std::string& key) {
  const std::string text = value_of_key(root / "proc/meminfo", key);
  if (text.empty()) return nullptr;
  return std::strtoll(text.c_str(), nullptr, 10) << 10U;
}

// cuBLAS of this build's major version. cublasGetVersion needs a handle, which needs a GPU.
Facts cublas_facts() {
  const int major = cuda_major_of_build({{"build", read_build()}});
  if (major == 0) return nullptr;
  const LibraryPlaces places = cublas_places(major);
  const SharedLibrary library(places);
  void* const version = library.find("cublasLtGetVersion");
  Facts number = nullptr;
  if (version != nullptr) {
    const std::size_t found = reinterpret_cast<std::size_t (*)()>(version)();
    number = fmt::format("{}.{}.{}", found / 10000, found % 10000 / 100, found % 100);
  }
  Facts folders = Facts::array();
  for (const auto& folder : places.folders) folders.push_back(folder.string());
  return {{"looked_for", places.names.front()},
          {"looked_in", folders},
          {"file", nullable(loaded_file("libcublas.so"))},
          {"lt_file", nullable(loaded_file("libcublasLt.so"))},
          {"version", number}};
}

Facts rows_of(const std::string& name, Device& device) {
  std::map<std::string, int> reasons;
  int rows = 0;
  for (const Case& c : enumerate_cases(Registry::instance(), device, Profile::quick, {})) {
    if (left_out_unless_named(c, Selection(), Filter(""))) continue;
    ++rows;
    if (const auto reason = unsupported_reason(c)) ++reasons[*reason];
  }
  Facts skipped = Facts::array();
  for (const auto& [reason, count] : reasons)
    skipped.push_back({{"reason", reason}, {"rows", count}});
  return {{"device", name}, {"rows", rows}, {"skipped", skipped}};
}

}  // namespace

Facts read_governors(const std::filesystem::path& root) {
  Facts found = Facts::array();
  for (const int cpu : std::views::iota(0, 4096)) {
    const std::string folder = fmt::format("sys/devices/system/cpu/cpu{}", cpu);
    if (!std::filesystem::exists(root / folder)) break;
    const std::string governor = first_line(root / folder / "cpufreq/scaling_governor");
    if (governor.empty() || std::ranges::find(found, Facts(governor)) != found.end()) continue;
    found.push_back(governor);
  }
  return found;
}

Facts read_libraries() {
  Facts openblas{{"version", nullable(openblas_version())},
                 {"file", nullable(loaded_file("libopenblas"))},
                 {"better_core", nullable(better_openblas_core())}};
  Facts onednn{{"version", nullable(onednn_version())},
               {"file", nullable(loaded_file("libdnnl"))},
               {"isa", nullable(onednn_isa())}};
  return {{"cublas", cublas_facts()},
          {"cub", nullable(build_info::cub)},
          {"openblas", std::move(openblas)},
          {"onednn", std::move(onednn)}};
}

Facts read_host(const Request& request) {
  const MachineFacts machine = read_machine({});
  Facts facts = machine.host;
  facts.update(machine.host_state);
  facts.update(this_host().identity());
  facts.update({{"online_processors", machine.host.at("cores")},
                {"governors", read_governors(request.root)},
                {"memory_left_in_group_bytes", nullable(Cgroup::own().memory_left())},
                {"swap_bytes", meminfo(request.root, "SwapTotal")},
                {"free_swap_bytes", meminfo(request.root, "SwapFree")},
                {"free_disk_bytes", free_disk()},
                {"stack_limit_bytes", stack_limit()}});
  return facts;
}

// GPUs where there is one that CUDA offers, else the host: what `run` measures by default.
Facts read_skipped(const Facts& gpus) {
  Facts devices = Facts::array();
  for (const Facts& gpu : gpus) {
    const std::string name = text_at(gpu, "/device");
    if (name.empty() || *build_info::cuda == '\0') continue;
    ListedDevice device(name, machine_of_gpu(gpu));
    devices.push_back(rows_of(name, device));
  }
  if (devices.empty()) devices.push_back(rows_of("cpu", this_host()));
  return devices;
}

}  // namespace ridgebench::doctor
