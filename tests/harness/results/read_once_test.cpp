#include "harness/results/files/read_once.hpp"

#include <gmock/gmock.h>

#include "harness/results/measured_roofs.hpp"
#include "harness/results/record.hpp"
#include "kernels/common/error.hpp"
#include "tests/harness/results/written_results.hpp"

namespace ridgebench {
namespace {

using testing::memory_ceiling;
using testing::Rows;
using testing::WrittenResults;

double bandwidth(const WrittenResults& results) {
  return open_roofs(results.path().string()).memory_roof(0.5)->per_s;
}

TEST(ReadOnce, AFolderKeepsItsFirstRoofsAndRowsWhileItLives) {
  const WrittenResults results(Rows{memory_ceiling("m", 0.5, 30)});
  {
    const ReadOnce once;
    EXPECT_EQ(bandwidth(results), 30);
    EXPECT_EQ(read_records(results.path().string()).size(), 1U);
    results.write("records.jsonl", memory_ceiling("m", 0.5, 60).dump() + "\n" +
                                       memory_ceiling("n", 0.5, 40).dump() + "\n");
    EXPECT_EQ(bandwidth(results), 30) << "the file is not read again";
    EXPECT_EQ(read_records(results.path().string()).size(), 1U);
  }
  EXPECT_EQ(bandwidth(results), 60) << "the next reader reads the file";
  EXPECT_EQ(read_records(results.path().string()).size(), 2U);
}

TEST(ReadOnce, DevicesAndFoldersAreKeptApart) {
  const WrittenResults one(Rows{memory_ceiling("m", 0.5, 30)});
  const WrittenResults other(Rows{memory_ceiling("m", 0.5, 60)});
  const ReadOnce once;
  EXPECT_EQ(bandwidth(one), 30);
  EXPECT_EQ(bandwidth(other), 60);
  const std::string folder = one.path().string();
  EXPECT_EQ(open_roofs(folder + "@cpu").memory_roof(0.5)->per_s, 30);
  EXPECT_THROW((void)open_roofs(folder + "@cuda:0"), UsageError);
}

TEST(ReadOnce, AFileThatCouldNotBeReadIsReadAgain) {
  const WrittenResults results(Rows{});
  results.write("records.jsonl", "no JSON\n");
  const ReadOnce once;
  EXPECT_THROW((void)bandwidth(results), UsageError);
  results.write("records.jsonl", memory_ceiling("m", 0.5, 30).dump() + "\n");
  EXPECT_EQ(bandwidth(results), 30);
}

}  // namespace
}  // namespace ridgebench
