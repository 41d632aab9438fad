#include "harness/device/cpu/processor.hpp"

#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <span>
#include <sstream>

#include "harness/device/cpu/arm_parts.hpp"
#include "harness/device/cpu/info.hpp"

namespace ridgebench {
namespace {

constexpr std::array<std::string_view, 9> kX86Features{"sse4_2",      "f16c",     "fma",
                                                       "avx2",        "avx512f",  "avx512_bf16",
                                                       "avx512_fp16", "amx_bf16", "amx_int8"};

struct ArmFeature {
  unsigned bit;
  std::string_view name;
};
// Source: Linux, arch/arm64/include/uapi/asm/hwcap.h.
constexpr std::array<ArmFeature, 5> kHwcap{
    {{1, "asimd"}, {10, "asimdhp"}, {20, "asimddp"}, {22, "sve"}, {23, "asimdfhm"}}};
constexpr std::array<ArmFeature, 6> kHwcap2{
    {{1, "sve2"}, {9, "svei8mm"}, {12, "svebf16"}, {13, "i8mm"}, {14, "bf16"}, {23, "sme"}}};

// Names that hypervisors write into the tables of the firmware. Source: systemd, src/basic/virt.c.
constexpr std::array<std::string_view, 11> kHypervisors{
    "KVM",   "OpenStack", "KubeVirt",   "QEMU",  "VMware",         "VirtualBox",
    "Bochs", "Parallels", "Amazon EC2", "BHYVE", "Virtual Machine"};

// Those of the words in `flags` that are known.
std::vector<std::string> x86_features(const std::string& flags) {
  std::istringstream words(flags);
  const std::set<std::string> all(std::istream_iterator<std::string>(words), {});
  std::vector<std::string> names;
  for (const std::string_view known : kX86Features) {
    if (all.contains(std::string(known))) names.emplace_back(known);
  }
  return names;
}

std::vector<std::string> arm_features(const ArmRegisters& registers) {
  std::vector<std::string> names;
  const auto add = [&](std::span<const ArmFeature> known, std::uint64_t word) {
    for (const ArmFeature& feature : known) {
      if ((word >> feature.bit & 1U) != 0) names.emplace_back(feature.name);
    }
  };
  add(kHwcap, registers.hwcap);
  add(kHwcap2, registers.hwcap2);
  return names;
}

// The main identification register: of /proc/cpuinfo, else of the kernel's own file, else `midr`.
std::uint64_t read_midr(const std::string& root, std::uint64_t midr) {
  const auto number = [](const std::string& text) {
    return std::strtoull(text.c_str(), nullptr, 0);
  };
  const std::string implementer = cpuinfo("CPU implementer", root);
  if (!implementer.empty()) {
    return number(implementer) << 24U | number(cpuinfo("CPU part", root)) << 4U;
  }
  const std::string file =
      first_line(root + "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
  return file.empty() ? midr : number(file);
}

// MIDR_EL1 has the implementer in bits 31 to 24 and the part in bits 15 to 4.
void name_arm(Processor& processor, std::uint64_t midr) {
  if (midr == 0) return;
  const std::uint64_t implementer = midr >> 24U & 0xffU;
  const std::uint64_t part = midr >> 4U & 0xfffU;
  processor.vendor = arm_implementer(implementer);
  processor.model = arm_part(implementer, part);
  if (processor.model.empty()) {
    processor.model = fmt::format("ARM implementer {:#04x} part {:#05x}", implementer, part);
  }
}

// The board or the machine, by the device tree or the firmware's tables.
std::string product(const std::string& root) {
  const std::string board = first_line(root + "/sys/firmware/devicetree/base/model");
  if (!board.empty()) return board.substr(0, board.find('\0'));
  return first_line(root + "/sys/class/dmi/id/product_name");
}

// Where the processor has no flag for it: a hypervisor that the kernel or the firmware names. A
// machine without one shows nothing, except that Amazon names its bare metal.
std::optional<bool> hypervisor_named(const std::string& root) {
  if (!first_line(root + "/sys/hypervisor/type").empty()) return true;
  if (std::filesystem::exists(root + "/sys/firmware/devicetree/base/hypervisor")) return true;
  const std::string name = first_line(root + "/sys/class/dmi/id/product_name");
  if (name.ends_with(".metal")) return false;
  const std::string all = first_line(root + "/sys/class/dmi/id/sys_vendor") + " " + name;
  const auto is_named = [&](std::string_view known) { return all.find(known) != all.npos; };
  return std::ranges::any_of(kHypervisors, is_named) ? std::optional(true) : std::nullopt;
}

ArmRegisters read_registers() {
  ArmRegisters registers;
#if defined(__aarch64__)
  registers.hwcap = getauxval(AT_HWCAP);
  registers.hwcap2 = getauxval(AT_HWCAP2);
  constexpr unsigned kCpuid = 11;  // the kernel answers the instruction that reads the register
  if ((registers.hwcap >> kCpuid & 1U) != 0) asm("mrs %0, midr_el1" : "=r"(registers.midr));
#endif
  return registers;
}

Processor read_x86(const std::string& root) {
  Processor processor;
  processor.model = cpuinfo("model name", root);
  processor.vendor = cpuinfo("vendor_id", root);
  const std::string flags = cpuinfo("flags", root);
  processor.features = x86_features(flags);
  if (!flags.empty()) processor.virtualized = flags.find("hypervisor") != std::string::npos;
  return processor;
}

}  // namespace

Processor read_processor(std::string_view architecture, const std::string& root,
                         const ArmRegisters& registers) {
  if (architecture == "x86_64") return read_x86(root);
  Processor processor;
  if (architecture == "aarch64") {
    name_arm(processor, read_midr(root, registers.midr));
    processor.features = arm_features(registers);
  }
  if (processor.model.empty()) processor.model = product(root);
  processor.virtualized = hypervisor_named(root);
  return processor;
}

const Processor& host_processor() {
  static const Processor processor = read_processor(host_architecture(), "", read_registers());
  return processor;
}

std::string host_architecture() {
  utsname system{};
  return uname(&system) == 0 ? system.machine : "";
}

std::optional<int> threads_per_core(const std::string& topology) {
  const int threads = processors_in(first_line(topology + "/thread_siblings"));
  return threads == 0 ? std::nullopt : std::optional(threads);
}

}  // namespace ridgebench
