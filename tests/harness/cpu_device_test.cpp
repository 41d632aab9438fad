#include "harness/cpu_device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace ridgepoint {
namespace {

// The flags that Linux holds of the mapping at an address (Documentation/filesystems/proc.rst,
// smaps): hg and nh are advice for and against huge pages. Empty where it does not tell.
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

TEST(CpuDevice, AsksForHugePagesButNotForWhatCachesKeep) {
  CpuDevice device;
  constexpr std::size_t kBytes = std::size_t{4} << 20U;
  const auto huge = device.queue().allocate(kBytes);
  const auto small = device.queue().allocate_for_cache(kBytes);
  if (flags_of(huge.get()).empty()) GTEST_SKIP() << "this kernel does not tell";
  EXPECT_NE(flags_of(huge.get()).find(" hg "), std::string::npos) << flags_of(huge.get());
  EXPECT_NE(flags_of(small.get()).find(" nh "), std::string::npos) << flags_of(small.get());
}

}  // namespace
}  // namespace ridgepoint
