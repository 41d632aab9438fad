#include "harness/device/cpu/info.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/temporary_directory.hpp"

namespace ridgebench {
namespace {

TEST(HostMemoryInfo, IsWhatTheKernelReports) {
  const TemporaryDirectory proc;
  std::ofstream(proc.path() / "meminfo") << "MemTotal:  3 kB\nMemFree: 1 kB\nMemAvailable: 2 kB\n";
  const MemoryInfo memory = host_memory(proc.path());
  EXPECT_EQ(memory.total_bytes, 3072);
  EXPECT_EQ(memory.available_bytes, 2048);
  EXPECT_EQ(memory.note, "");
}

TEST(HostMemoryInfo, IsKnownWhereProcIsHidden) {
  const TemporaryDirectory hidden;
  const MemoryInfo memory = host_memory(hidden.path());
  EXPECT_GT(memory.available_bytes, 0) << "else every row would be skipped";
  EXPECT_GE(memory.total_bytes, memory.available_bytes);
  EXPECT_THAT(memory.note, ::testing::HasSubstr("meminfo is unreadable"));
}

}  // namespace
}  // namespace ridgebench
