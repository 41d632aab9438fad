#include "harness/device/cpu/cgroup.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

class Cgroup : public testing::Test {
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
    return memory_left_by_cgroup(membership, root_);
  }

  fs::path root_;
};

TEST_F(Cgroup, LeavesWhatIsNotUsedExceptForCachedFiles) {
  write("job/memory.max", "1000");
  write("job/memory.current", "700");
  write("job/memory.stat", "anon 500\ninactive_file 150");
  EXPECT_EQ(left("0::/job\n"), 450);
}

TEST_F(Cgroup, TheTightestOfAllAroundCounts) {
  write("job/memory.max", "500");
  write("job/memory.current", "100");
  write("job/step/memory.max", "max");
  write("job/step/memory.current", "100");
  EXPECT_EQ(left("0::/job/step\n"), 400);
  EXPECT_EQ(left("0::/elsewhere\n"), std::nullopt);
}

TEST_F(Cgroup, ContainersMaySeeTheirGroupAsTheRoot) {
  write("memory.max", "300");
  write("memory.current", "400");
  EXPECT_EQ(left("0::/docker/0123abc\n"), 0) << "never less than nothing";
}

TEST_F(Cgroup, WithoutLimitsThereIsNoAnswer) {
  EXPECT_EQ(left(""), std::nullopt);
  EXPECT_EQ(left("no colon\n0::/\n"), std::nullopt);
  EXPECT_EQ(left("4:cpu,memory:/slurm/job_1\n"), std::nullopt) << "version 1";
}

}  // namespace
}  // namespace ridgebench
