#include "harness/cli/machine_facts.hpp"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>

#include "harness/base/checksum.hpp"
#include "harness/device/cpu/cgroup.hpp"
#include "harness/device/cpu/info.hpp"
#include "harness/device/cpu/processor.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

std::string host_name() {
  utsname system{};
  uname(&system);
  return system.nodename;
}

std::string operating_system() {
  const std::string line = first_line("/etc/os-release");  // PRETTY_NAME="Debian GNU/Linux 12"
  const std::size_t quote = line.find('"');
  return quote == std::string::npos ? line : line.substr(quote + 1, line.size() - quote - 2);
}

ordered_json host() {
  utsname system{};
  uname(&system);
  return {
      {"hostname_hash", hostname_hash()},
      {"architecture", nullable(host_architecture())},
      {"cpu_model", nullable(host_processor().model)},
      {"cpu_features", host_processor().features},
      {"sockets", host_sockets()},
      {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
      {"threads_per_core", nullable(threads_per_core())},
      {"page_bytes", sysconf(_SC_PAGESIZE)},
      {"memory_bytes", host_memory().total_bytes},
      {"kernel", fmt::format("{} {}", system.sysname, system.release)},
      {"os", nullable(operating_system())},
      {"governor", nullable(first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))},
      {"libc", gnu_get_libc_version()},
      {"numa_nodes", nullable(first_line("/sys/devices/system/node/online"))},
      {"cgroup", nullable(Cgroup::own().line())},
      {"container", nullable(container())},
      {"virtualized", nullable(host_processor().virtualized)}};
}

ordered_json host_state() {
  return {{"load_average", std::strtod(first_line("/proc/loadavg").c_str(), nullptr)},
          {"available_memory_bytes", host_memory().available_bytes},
          {"package_energy_j", nullable(package_energy_j())},
          {"stolen_s", nullable(stolen_s())}};
}

}  // namespace

std::string node_name() {
  const char* const name = std::getenv("SLURMD_NODENAME");
  return name == nullptr || *name == '\0' ? host_name() : name;
}

std::string hostname_hash() { return sha256(host_name()).substr(0, 16); }

MachineFacts read_machine(const std::vector<std::unique_ptr<Device>>& devices) {
  MachineFacts facts{.devices = {}, .host = host(), .host_state = host_state()};
  for (const auto& device : devices) {
    facts.devices.push_back({.name = device->name(),
                             .backend = device->backend(),
                             .data_sheet = device->data_sheet(),
                             .identity = device->identity(),
                             .state = device->state()});
  }
  return facts;
}

}  // namespace ridgebench
