// A control that moved puts the rows of its ceiling in doubt, and no other row.
#include "harness/results/doubts.hpp"

#include <gmock/gmock.h>

#include "tests/support/sample_record.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ridgebench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

Record timed(const std::string& id, Role role, Resource resource, double seconds) {
  Record r = sample_record(id);
  r.role = role;
  r.saturates = resource;
  r.time->median = seconds;
  r.flags.clear();
  return r;
}

// Main memory by a copy and by reads, and arithmetic; the copy and the arithmetic come again.
std::vector<Record> run(double copy_again_s, double fma_again_s) {
  return {timed("copy@cpu", Role::ceiling, Resource::memory, 1),
          timed("read@cpu", Role::ceiling, Resource::memory, 1),
          timed("fma@cpu", Role::ceiling, Resource::fma, 1),
          timed("copy@cpu:control", Role::control, Resource::memory, copy_again_s),
          timed("fma@cpu:control", Role::control, Resource::fma, fma_again_s)};
}

Record kernel(const std::string& id, std::optional<Limit> bound) {
  Record r = timed(id, Role::kernel, Resource::memory, 1);
  r.saturates.reset();
  r.bound = bound;
  r.roof = RecordedRoof{.flops_per_s = 1,
                        .bytes_per_s = 1,
                        .compute_ceiling = "fma@cpu",
                        .memory_ceiling = "read@cpu"};
  return r;
}

std::vector<Record> run_with_kernels(double copy_again_s, double fma_again_s) {
  std::vector<Record> records = run(copy_again_s, fma_again_s);
  records.push_back(kernel("dot@cpu", Limit::memory));
  records.push_back(kernel("matmul@cpu", Limit::compute));
  records.push_back(kernel("small@cpu", Limit::launch));
  return records;
}

TEST(Doubts, TwoPercentAreNoMove) {
  const Doubts doubts = doubts_of(run_with_kernels(1.019, 0.985));
  ASSERT_THAT(doubts.controls, SizeIs(3)) << "the copy serves for the reads";
  EXPECT_FALSE(std::ranges::any_of(doubts.controls, &Control::moved));
  EXPECT_THAT(doubts.rows, IsEmpty());
}

TEST(Doubts, TheCopyServesForTheMemory) {
  const Doubts doubts = doubts_of(run_with_kernels(1.25, 1));
  EXPECT_THAT(doubts.rows, ElementsAre(Pair("dot@cpu", ElementsAre("read@cpu")),
                                       Pair("small@cpu", ElementsAre("read@cpu"))));
  const auto read = std::ranges::find(doubts.controls, "read@cpu", &Control::ceiling);
  EXPECT_EQ(read->control, "copy@cpu:control");
  EXPECT_DOUBLE_EQ(read->change, -0.2);
}

TEST(Doubts, OfArithmeticLeaveTheRowsOfMemory) {
  const Doubts doubts = doubts_of(run_with_kernels(1, 0.9));
  EXPECT_THAT(doubts.rows, ElementsAre(Pair("matmul@cpu", ElementsAre("fma@cpu")),
                                       Pair("small@cpu", ElementsAre("fma@cpu"))));
}

TEST(Doubts, AnotherDeviceIsNotConcerned) {
  std::vector<Record> records = run_with_kernels(1.25, 1);
  for (Record& r : records) {
    if (r.id.starts_with("read")) r.device = "cuda:0";
  }
  EXPECT_THAT(doubts_of(records).rows, IsEmpty());
}

TEST(Doubts, AControlWithoutATimeSaysNothing) {
  std::vector<Record> records = run_with_kernels(1.25, 1);
  records[3].status = Status::failed;
  EXPECT_THAT(doubts_of(records).rows, IsEmpty());
}

TEST(Doubts, TheRunOfTheCeilingsPutsThisRunInDoubt) {
  const std::vector<Control> earlier = controls_of(run(1.25, 1.5));
  const std::vector<Record> own{kernel("dot@cpu", Limit::memory)};
  const Doubts doubts = doubts_of(own, earlier);
  EXPECT_THAT(doubts.rows, ElementsAre(Pair("dot@cpu", ElementsAre("read@cpu"))));
  ASSERT_THAT(doubts.controls, SizeIs(1))
      << "the roof of the row has no other ceiling that it meets";
  EXPECT_TRUE(doubts.controls.front().earlier);
}

class RecordedDoubts : public ::testing::Test {
 protected:
  [[nodiscard]] Standing standing(const nlohmann::ordered_json& environment) const {
    write_text(folder_ / "environment.json", environment.dump());
    return read_standing(folder_.path().string(), records_);
  }

  TemporaryDirectory folder_;
  nlohmann::ordered_json ended_{
      {"interrupted", false}, {"ended", "2026-01-01T00:00:00Z"}, {"budget_s", nullptr}};
  std::vector<Record> records_ = run_with_kernels(1.25, 1);
};

TEST_F(RecordedDoubts, AreReadAsTheyWereWritten) {
  add_doubts(ended_, doubts_of(records_));
  EXPECT_THAT(doubt_problems(ended_, records_), IsEmpty());
  const Doubts read = standing(ended_).doubts;
  EXPECT_EQ(read.rows, doubts_of(records_).rows);
  EXPECT_THAT(read.controls, SizeIs(3));
}

TEST_F(RecordedDoubts, ThatTheRowsContradictAreAProblem) {
  add_doubts(ended_, doubts_of(records_));
  ended_["doubted"].erase("dot@cpu");
  EXPECT_THAT(doubt_problems(ended_, records_),
              ElementsAre("environment.json: doubted is not what the rows say"));
  add_doubts(ended_, doubts_of(records_));
  ended_["controls"][0]["moved"] = false;
  EXPECT_THAT(doubt_problems(ended_, records_),
              ElementsAre("environment.json: controls is not what the rows say"));
}

TEST_F(RecordedDoubts, AreWhatCountsNotTheRows) {
  ended_["controls"] = nlohmann::ordered_json::array();
  ended_["doubted"] = nlohmann::ordered_json::object();
  EXPECT_THAT(standing(ended_).doubts.rows, IsEmpty());
}

TEST_F(RecordedDoubts, OfAnOlderRunFollowFromItsRows) {
  EXPECT_THAT(standing(ended_).doubts.rows, SizeIs(2));
  EXPECT_THAT(doubt_problems(ended_, records_), IsEmpty());
}

TEST_F(RecordedDoubts, NoRowOfARunWithoutAnEndHeadsAnything) {
  const Record& row = records_.back();
  EXPECT_TRUE(standing(ended_).may_head(row));
  nlohmann::ordered_json endless = ended_;
  endless["ended"] = nullptr;
  EXPECT_FALSE(standing(endless).may_head(row));
  nlohmann::ordered_json interrupted = ended_;
  interrupted["interrupted"] = true;
  EXPECT_FALSE(standing(interrupted).may_head(row));
  endless["imported"] = {{"tool", "other"}};
  EXPECT_TRUE(standing(endless).may_head(row)) << "another tool's results have no end";
}

TEST_F(RecordedDoubts, ARowThatTheBudgetCutHeadsNothing) {
  Record row = records_.back();
  row.flags = {kFewSamples};
  EXPECT_TRUE(standing(ended_).may_head(row)) << "its profile asks for no more";
  ended_["budget_s"] = 10;
  EXPECT_FALSE(standing(ended_).may_head(row));
  EXPECT_TRUE(standing(ended_).may_head(records_.back()));
  row = records_.back();
  row.status = Status::suspect;
  EXPECT_FALSE(standing(ended_).may_head(row));
}

}  // namespace
}  // namespace ridgebench
