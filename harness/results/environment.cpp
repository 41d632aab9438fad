#include "harness/results/environment.hpp"

#include <benchmark/benchmark.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <random>
#include <sstream>

#include "harness/base/build_info.hpp"
#include "harness/base/loaded_kernels.hpp"
#include "harness/base/ungated.hpp"
#include "harness/results/held_back.hpp"
#include "harness/results/record.hpp"
#include "harness/results/worn.hpp"
#include "kernels/common/cpu/onednn.hpp"
#include "kernels/common/cpu/openblas.hpp"
#include "roofline/nullable.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX declares it nowhere

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

// Prefixes of environment variables that change results, beside those that libraries read.
constexpr std::array<std::string_view, 6> kVariablePrefixes{"OMP_",    "GOMP_",   "CUDA_",
                                                            "NVIDIA_", "MALLOC_", kUngatedVariable};
// They identify a batch job, but not its user.
constexpr std::array<std::string_view, 3> kSchedulerVariables{"SLURM_JOB_ID", "SLURM_ARRAY_TASK_ID",
                                                              "SLURM_PROCID"};

// Keys of a device that only a GPU, or only a host, has.
constexpr const char* kGpuKeys =
    "uuid_hash memory_bus_bits pci_address pci_id pci_subsystem_id numa_node driver cuda "
    "cuda_of_driver cublas clocks power_limit_w power_limits_w ecc pending_ecc mig persistence "
    "compute_mode vbios board_part_number inforom gsp_firmware pcie nvlinks "
    "nvlinks_present remapped_rows";
constexpr const char* kHostKeys =
    "isa threads threads_limited_by pinned cores cpu_quota huge_pages";

// Text, or null with the reason why.
class Readings {
 public:
  ordered_json text(const std::string& key, const std::string& value, const char* reason) {
    if (!value.empty()) return value;
    unavailable_[key] = reason;
    return nullptr;
  }
  ordered_json absent(const std::string& key, const char* reason) { return text(key, "", reason); }
  [[nodiscard]] const ordered_json& unavailable() const { return unavailable_; }

 private:
  ordered_json unavailable_ = ordered_json::object();
};

// A UUID of version 7 (RFC 9562, section 5.7): milliseconds since 1970, then random bits, so that
// runs sort by when they began.
std::string new_run_id() {
  using std::chrono::milliseconds;
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const auto ms =
      static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(since_1970).count());
  std::random_device random;
  const std::uint64_t low = std::uint64_t{random()} << 32U | random();
  return fmt::format("{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}", ms >> 16U & 0xffffffffU, ms & 0xffffU,
                     random() & 0xfffU, 0x8000U | (low >> 48U & 0x3fffU), low & 0xffffffffffffU);
}

// Why a key of the host is null.
constexpr std::array<std::pair<const char*, const char*>, 9> kHostReasons{
    {{"architecture", "uname fails"},
     {"cpu_model", "neither the kernel nor the firmware names the processor"},
     {"threads_per_core", "the kernel lists no threads of a core"},
     {"virtualized", "neither the processor nor the firmware says"},
     {"os", "/etc/os-release is unreadable"},
     {"governor", "the kernel offers no cpufreq"},
     {"numa_nodes", "the kernel lists no nodes of memory"},
     {"cgroup", "/proc/self/cgroup is unreadable"},
     {"container", "no sign of a container, or of its image"}}};

ordered_json host(const ordered_json& facts, Readings& readings) {
  for (const auto& [key, reason] : kHostReasons) {
    if (facts.at(key).is_null()) readings.absent(fmt::format("host.{}", key), reason);
  }
  return facts;
}

ordered_json build(Readings& readings) {
  return {{"compiler", build_info::compiler},
          {"flags", build_info::flags},
          {"build_type", build_info::build_type},
          {"cuda", readings.text("build.cuda", build_info::cuda, "built without CUDA")}};
}

ordered_json libraries(Readings& readings) {
  constexpr const char* kNoLibrary = "built without it, or it is not installed";
  // Google Benchmark 1.7 cannot report its version.
  return {{"google_benchmark", build_info::google_benchmark},
          {"openblas", readings.text("libraries.openblas", openblas_version(), kNoLibrary)},
          {"onednn", readings.text("libraries.onednn", onednn_version(), kNoLibrary)}};
}

ordered_json variables(std::span<const std::string_view> prefixes) {
  ordered_json variables = ordered_json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    for (const std::string_view prefix : prefixes) {
      const std::size_t equals = text.find('=');
      if (text.starts_with(prefix) && equals != std::string_view::npos) {
        variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
      }
    }
  }
  return variables;
}

ordered_json variables_of_results() {
  std::vector<std::string_view> prefixes = library_prefixes();
  prefixes.insert(prefixes.end(), kVariablePrefixes.begin(), kVariablePrefixes.end());
  return variables(prefixes);
}

ordered_json describe(const MachineFacts::Device& device, Readings& readings) {
  ordered_json json = device.identity;
  const bool host = device.backend == Backend::cpu;
  json["data_sheet"] = readings.text(device.name + ".data_sheet", device.data_sheet,
                                     "no data sheet matches this device");
  const auto add_absent = [&](const char* keys, const char* reason) {
    std::istringstream list(keys);
    for (std::string key; list >> key;) {
      if (json.contains(key)) continue;
      json[key] = readings.absent(fmt::format("{}.{}", device.name, key), reason);
    }
  };
  if (!host) add_absent("cublas", "the library cannot be loaded");
  add_absent(kGpuKeys, host ? "a host has none" : "the driver does not report it");
  add_absent(kHostKeys, host ? "no control group limits it" : "a GPU has none");
  return json;
}

// The readings of this moment; "before" or "after" the run.
ordered_json states(const std::string& moment, const MachineFacts& machine, Readings& readings) {
  ordered_json states{{"host", machine.host_state}};
  for (const auto& device : machine.devices) states[device.name] = device.state;
  for (const auto& [name, state] : states.items()) {
    for (const auto& [key, value] : state.items()) {
      if (!value.is_null()) continue;
      readings.absent(
          fmt::format("state.{}.{}.{}", moment, name, key),
          name == "host" ? "the kernel does not let it be read" : "the driver does not report it");
    }
  }
  return states;
}

// An option that was not given is null.
ordered_json given(const std::string& option) {
  return option.empty() ? ordered_json(nullptr) : ordered_json(option);
}

std::vector<std::string> names(const std::vector<Regime>& regimes) {
  std::vector<std::string> result;
  result.reserve(regimes.size());
  for (const Regime regime : regimes) result.emplace_back(name(regime));
  return result;
}

}  // namespace

std::string timestamp() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

ordered_json describe_loaded_kernels() {
  ordered_json files = ordered_json::array();
  for (const LoadedKernels& kernels : loaded_kernels()) {
    files.push_back({{"file", kernels.name()}, {"sha256", kernels.sha256}});
  }
  return files;
}

ordered_json make_environment(const RunRequest& request, const MachineFacts& before,
                              std::span<const std::string> command_line) {
  Readings readings;
  ordered_json device_list = ordered_json::array();
  for (const auto& device : before.devices) device_list.push_back(describe(device, readings));
  const std::string started = timestamp();
  ordered_json json{
      {"schema", kEnvironmentSchema},
      {"run_id", new_run_id()},
      {"version", build_info::version},
      {"method_version", kMethodVersion},
      {"commit", readings.text("commit", build_info::commit, "built outside a git checkout")},
      {"dirty", build_info::dirty},
      {"command_line", std::vector<std::string>(command_line.begin(), command_line.end())},
      {"device", given(request.device)},
      {"profile", name(request.profile)},
      {"filter", given(request.filter)},
      {"operations", request.names.operations},
      {"techniques", request.names.techniques},
      {"formats", request.names.formats},
      {"shapes", request.names.shapes},
      {"regimes", names(request.regimes)},
      {"seed", request.seed},
      {"fill", name(request.fill)},
      {"early_launches", request.early_launches},
      {"fingerprint", request.fingerprint},
      {"budget_s", nullable(request.budget_s)},
      {"roof", given(request.roof)},
      {"ceilings", given(request.ceilings)},
      {"started", started},
      {"ended", nullptr},
      {"duration_s", nullptr},
      {"interrupted", true},  // until the run says that it finished
      {"controls", nullptr},  // until then, too, as `doubted`
      {"doubted", nullptr},
      {"devices", device_list},
      {"host", host(before.host, readings)},
      {"state", {{"before", states("before", before, readings)}, {"after", nullptr}}},
      {"build", build(readings)},
      {"libraries", libraries(readings)},
      {"loaded", describe_loaded_kernels()},
      {"environment_variables", variables_of_results()},
      {"scheduler", variables(kSchedulerVariables)}};
  json["unavailable"] = readings.unavailable();
  return json;
}

void end_environment(ordered_json& environment, const MachineFacts& after, double duration_s) {
  Readings readings;
  environment["ended"] = timestamp();
  environment["duration_s"] = duration_s;
  environment["interrupted"] = false;
  environment["state"]["after"] = states("after", after, readings);
  record_worn(environment);
  environment["unavailable"].update(readings.unavailable());
}

}  // namespace ridgebench
