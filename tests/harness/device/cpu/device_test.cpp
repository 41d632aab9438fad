#include "harness/device/cpu/device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace ridgebench {
namespace {

// Returns Linux's flags of the mapping at an address (Documentation/filesystems/proc.rst, smaps).
// hg and nh advise for and against huge pages. The result is empty if Linux does not report flags.
std::string flags_of(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream smaps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    std::istringstream range(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (range >> std::hex >> begin >> dash >> end && dash == '-') inside = begin <= at && at < end;
    if (inside && line.starts_with("VmFlags:")) return line + ' ';
  }
  return {};
}

TEST(CpuDevice, AsksForHugePages) {
  CpuDevice device;
  const auto memory = device.queue().allocate(std::size_t{4} << 20U);
  const std::string flags = flags_of(memory.get());
  if (flags.empty()) GTEST_SKIP() << "this kernel does not report the flags";
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
}

}  // namespace
}  // namespace ridgebench
