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

TEST(HostCaches, AreDataCachesWithTheProcessorsThatShareThem) {
  const TemporaryDirectory folder;
  const auto add = [&](const char* index, const char* level, const char* type, const char* size,
                       const char* shared) {
    const std::filesystem::path cache = folder / index;
    std::filesystem::create_directory(cache);
    write_text(cache / "level", level);
    write_text(cache / "type", type);
    write_text(cache / "size", size);
    write_text(cache / "shared_cpu_map", shared);
  };
  add("index0", "1", "Data\n", "32K\n", "00000001\n");
  add("index1", "1", "Instruction\n", "64K\n", "00000001\n");
  add("index2", "3", "Unified\n", "32768K\n", "0000000f,ffffffff\n");
  const CacheInfo info = host_caches(folder.path());
  ASSERT_EQ(info.caches.size(), 2U);
  EXPECT_EQ(info.caches[0].bytes, 32 << 10);
  EXPECT_EQ(info.caches[0].shared_by, 1);
  EXPECT_EQ(info.caches[1].level, 3);
  EXPECT_EQ(info.caches[1].bytes, 32 << 20);
  EXPECT_EQ(info.caches[1].shared_by, 36);
  EXPECT_EQ(info.note, "");
}

TEST(HostCaches, ThatTheKernelHidesAreSaidBecauseSizesFollowThem) {
  EXPECT_THAT(host_caches("nowhere").note, ::testing::HasSubstr("nowhere is unreadable; sizes "));
}

}  // namespace
}  // namespace ridgebench
