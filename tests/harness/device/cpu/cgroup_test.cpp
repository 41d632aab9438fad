#include "harness/device/cpu/cgroup.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(testing::TempDir()) / (std::string("cgroup_") + test->name());
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  [[nodiscard]] std::optional<std::int64_t> left(const std::string& membership) const {
    return Cgroup(membership, root_).memory_left();
  }

  [[nodiscard]] std::optional<double> quota(const std::string& membership) const {
    return Cgroup(membership, root_).cpu_quota();
  }

  fs::path root_;
};

TEST_F(CgroupTest, LeavesWhatIsNotUsedExceptForCachedFiles) {
  write("job/memory.max", "1000");
  write("job/memory.current", "700");
  write("job/memory.stat", "anon 500\ninactive_file 150");
  EXPECT_EQ(left("0::/job\n"), 450);
}

TEST_F(CgroupTest, TheTightestOfAllAroundCounts) {
  write("job/memory.max", "500");
  write("job/memory.current", "100");
  write("job/step/memory.max", "max");
  write("job/step/memory.current", "100");
  EXPECT_EQ(left("0::/job/step\n"), 400);
  EXPECT_EQ(left("0::/elsewhere\n"), std::nullopt);
}

TEST_F(CgroupTest, ContainersMaySeeTheirGroupAsTheRoot) {
  write("memory.max", "300");
  write("memory.current", "400");
  EXPECT_EQ(left("0::/docker/0123abc\n"), 0) << "never less than nothing";
}

TEST_F(CgroupTest, WithoutLimitsThereIsNoAnswer) {
  for (const char* membership : {"", "no colon\n0::/\n", "4:cpu,memory:/slurm/job_1\n"}) {
    EXPECT_EQ(left(membership), std::nullopt) << membership;
    EXPECT_EQ(quota(membership), std::nullopt) << membership;
    EXPECT_EQ(Cgroup(membership, root_).throttled_periods(), std::nullopt) << membership;
  }
}

TEST_F(CgroupTest, MemoryOfVersionOneCounts) {
  write("memory/job/memory.limit_in_bytes", "1000");
  write("memory/job/memory.usage_in_bytes", "700");
  write("memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 150");
  write("memory/memory.limit_in_bytes", "9223372036854771712");  // none
  write("memory/memory.usage_in_bytes", "9000");
  EXPECT_EQ(left("5:cpuset:/\n4:memory:/job\n0::/\n"), 450);
}

TEST_F(CgroupTest, TheTightestQuotaAroundCounts) {
  write("job/cpu.max", "150000 100000");
  write("job/step/cpu.max", "max 100000");
  EXPECT_EQ(quota("0::/job/step\n"), 1.5);
  write("job/step/cpu.max", "50000 100000");
  EXPECT_EQ(quota("0::/job/step\n"), 0.5);
  EXPECT_EQ(quota("0::/elsewhere\n"), std::nullopt);
}

TEST_F(CgroupTest, QuotasOfVersionOneCount) {
  write("cpu/job/cpu.cfs_quota_us", "100000");
  write("cpu/job/cpu.cfs_period_us", "50000");
  write("cpu/cpu.cfs_quota_us", "-1");
  write("cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota("4:cpu,cpuacct:/job/step\n0::/\n"), 2);
  EXPECT_EQ(quota("4:cpuacct:/job\n"), std::nullopt) << "another controller";
}

TEST_F(CgroupTest, VersionTwoMayStandBesideVersionOne) {
  write("unified/job/cpu.max", "200000 100000");
  EXPECT_EQ(quota("4:memory:/\n0::/job\n"), 2);
}

TEST_F(CgroupTest, AProcessWithoutMembershipReadsTheRoot) {  // /proc is hidden
  write("cpu.max", "100000 100000");
  write("memory.max", "300");
  write("memory.current", "100");
  EXPECT_EQ(quota(""), 1);
  EXPECT_EQ(left(""), 200);
}

TEST_F(CgroupTest, NamesTheGroupThatLimitsTheProcess) {
  const auto line = [&](const char* membership) { return Cgroup(membership, root_).line(); };
  EXPECT_EQ(line("9:name=systemd:/\n4:memory:/m\n3:cpu,cpuacct:/job\n0::/\n"),
            "3:cpu,cpuacct:/job");
  EXPECT_EQ(line("9:name=systemd:/\n4:memory:/m\n0::/\n"), "4:memory:/m");
  EXPECT_EQ(line("9:name=systemd:/\n0::/user.slice\n"), "0::/user.slice");
  EXPECT_EQ(line("0::/job\n"), "0::/job");
  EXPECT_EQ(line(""), "");
}

TEST_F(CgroupTest, CountsThePeriodsInWhichAQuotaStoppedTheProcess) {
  write("job/cpu.max", "150000 100000");
  write("job/cpu.stat", "usage_usec 5\nnr_periods 166\nnr_throttled 151\nthrottled_usec 9");
  write("job/step/cpu.stat", "nr_throttled 7");  // without a quota
  const Cgroup group("0::/job/step\n", root_);
  EXPECT_EQ(group.throttled_periods(), 151);
  write("job/cpu.stat", "nr_throttled 153");
  EXPECT_EQ(group.throttled_periods(), 153);
}

}  // namespace
}  // namespace ridgebench
