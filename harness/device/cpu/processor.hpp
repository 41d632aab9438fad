// Facts about the processor from Linux. The keys of /proc/cpuinfo differ between
// architectures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgebench {

struct Processor {
  std::string model;                  // empty if unknown
  std::string vendor;                 // empty if unknown
  std::vector<std::string> features;  // what deep learning uses, named as /proc/cpuinfo names it
  std::optional<bool> virtualized;    // empty if nothing shows it
};

// Registers of an ARM processor that a process can read without a file; 0 if unknown.
struct ArmRegisters {
  std::uint64_t midr = 0;               // main identification register
  std::uint64_t hwcap = 0, hwcap2 = 0;  // AT_HWCAP and AT_HWCAP2 of getauxval(3)
};

// The processor of an architecture, which uname(2) names, from the files below `root`.
Processor read_processor(std::string_view architecture, const std::string& root = "",
                         const ArmRegisters& registers = {});

// This host's, read once.
const Processor& host_processor();
// This host's architecture, as uname(2) names it: "x86_64", "aarch64".
std::string host_architecture();
// Threads of a core; empty if unknown.
std::optional<int> threads_per_core(
    const std::string& topology = "/sys/devices/system/cpu/cpu0/topology");

}  // namespace ridgebench
