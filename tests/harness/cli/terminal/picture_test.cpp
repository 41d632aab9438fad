#include "harness/cli/terminal/picture.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/results/judged/judged.hpp"
#include "harness/results/measured_roofs.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/sample_record.hpp"

namespace ridgebench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

// A verified steady kernel of 4000 FLOPs and 1000 bytes that takes `seconds`.
Record row(const std::string& op, const std::string& technique, Format format, double seconds) {
  Record r = sample_record();
  r.op = op;
  r.technique = technique;
  r.format = r.arithmetic = format;
  r.role = Role::kernel;
  r.saturates.reset();
  r.flops = 4000;
  r.bytes = 1000;
  r.time = Summary{.median = seconds};
  r.fraction_of_measured_roof = 0.5;
  return r;
}

Roofs roofs() {
  Roofs found("made up");
  found.add({Resource::memory, {}, 0, 2e10, "dram_read/fast/fp32"});
  found.add({Resource::memory, {}, 0.5, 1e10, "dram_copy/fast/fp32"});
  found.add({Resource::fma, Format::fp32, 0, 1e11, "fma_peak/fast/fp32"});
  found.add({Resource::tensor, Format::fp16, 0, 8e11, "tensor_peak/fast/fp16"});
  found.add({Resource::tensor, Format::bf16, 0, 8e11, "tensor_peak/fast/bf16"});
  return found;
}

std::vector<std::string> names(const std::vector<RooflinePoint>& points) {
  std::vector<std::string> all;
  for (const RooflinePoint& p : points) all.push_back(p.name + " " + p.format_name);
  return all;
}

TEST(TerminalPicture, APointIsTheBestRowOfAnOperationAndAFormat) {
  const auto picture =
      picture_of("t", roofs(),
                 {row("relu", "naive", Format::fp32, 4e-6), row("relu", "fast", Format::fp32, 1e-6),
                  row("relu", "fast", Format::bf16, 2e-6), row("dot", "fast", Format::fp32, 3e-6)});
  EXPECT_THAT(names(picture.points),
              UnorderedElementsAre("relu fast fp32", "relu fast bf16", "dot fast fp32"));
  EXPECT_THAT(names(picture.dots), ElementsAre("relu naive fp32"));
  Record cached = row("dot", "small", Format::fp32, 1e-6);
  cached.flags = {"served_by_cache"};
  const auto both = picture_of("t", roofs(), {cached, row("dot", "fast", Format::fp32, 3e-6)});
  EXPECT_THAT(names(both.points), ElementsAre("dot fast fp32")) << "a cache served the faster one";
  EXPECT_EQ(picture.points.front().name, "relu fast");
  EXPECT_EQ(picture.points.front().flops_per_s, 4e9);
  EXPECT_EQ(picture.points.front().intensity, 4);
  EXPECT_EQ(picture.points.front().share_of_roof, 0.5);
}

TEST(TerminalPicture, ARowThatTheBudgetCutComesAfterOthers) {
  Record cut = row("dot", "cut", Format::fp32, 1e-6);
  cut.flags = {kFewSamples};
  const std::vector<Record> rows{cut, row("dot", "whole", Format::fp32, 3e-6)};
  EXPECT_THAT(names(picture_of("t", roofs(), rows).points), ElementsAre("dot cut fp32"));
  const auto picture = picture_of("t", roofs(), rows, {.budgeted = true});
  EXPECT_THAT(names(picture.points), ElementsAre("dot whole fp32"));
}

TEST(TerminalPicture, AShareOfARoofThatMovedIsMarked) {
  const Record dot = row("dot", "fast", Format::fp32, 3e-6);
  const Standing moved{.doubts = {.rows = {{dot.id, {"copy"}}}}};
  const auto text = [&](const Standing& standing) {
    std::string all;
    for (const std::string& line :
         draw_roofline(picture_of("t", roofs(), {dot}, standing), {.columns = 100})) {
      all += line + "\n";
    }
    return all;
  };
  EXPECT_THAT(text(moved), AllOf(HasSubstr("~"), HasSubstr("~ the roof moved during the run")));
  EXPECT_THAT(text({}), Not(HasSubstr("~")));
}

TEST(TerminalPicture, AllOperationsHaveThePointsOfAFormatOrNone) {
  std::vector<Record> rows;
  for (const Format format : {Format::fp16, Format::fp8_e4m3, Format::fp32, Format::bf16}) {
    for (const char* op : {"dot", "gelu", "matmul", "relu"}) {
      rows.push_back(row(op, "fast", format, format == Format::fp8_e4m3 ? 1e-6 : 2e-6));
    }
  }
  const auto count = [](const RooflinePicture& picture, const char* format) {
    return std::ranges::count(picture.points, format, &RooflinePoint::format_name);
  };
  const auto two = picture_of("t", roofs(), rows);
  EXPECT_THAT(two.points, SizeIs(8));
  EXPECT_EQ(count(two, "bf16"), 4);
  EXPECT_EQ(count(two, "fp32"), 4);
  EXPECT_THAT(two.dots, SizeIs(rows.size() - 8));
  rows.push_back(row("matvec", "fast", Format::fp32, 1e-6));
  const auto one = picture_of("t", roofs(), rows);
  EXPECT_THAT(one.points, SizeIs(5)) << "4 in bf16 and matvec, which has no other format";
  for (int i = 0; i < 20; ++i) rows.push_back(row(fmt::format("own_{}", i), "x", Format::fp32, 1));
  EXPECT_THAT(picture_of("t", roofs(), rows).points, SizeIs(kMostPoints));
}

TEST(TerminalPicture, OnlyVerifiedSteadyRowsAreDrawn) {
  Record wrong = row("relu", "wrong", Format::fp32, 1e-9);
  wrong.status = Status::wrong;
  Record skipped = skipped_record("relu/skipped/fp32/n:1/steady@cpu");
  skipped.role = Role::kernel;
  Record cold = row("relu", "cold", Format::fp32, 1e-9);
  cold.regime = Regime::cold;
  Record ceiling = row("dram_read", "ceiling", Format::fp32, 1e-9);
  ceiling.role = Role::ceiling;
  Record copy = row("copy", "no_flops", Format::fp32, 1e-6);
  copy.flops = 0;
  const auto picture = picture_of(
      "t", roofs(), {wrong, skipped, cold, ceiling, copy, row("relu", "fast", Format::fp32, 1e-6)});
  EXPECT_THAT(names(picture.points), ElementsAre("relu fast fp32"));
  EXPECT_THAT(picture.dots, IsEmpty());
  EXPECT_EQ(picture.without_intensity, 1U);
  EXPECT_THAT(names(picture_of("t", roofs(), {cold}).points), ElementsAre("relu cold fp32"))
      << "a run without steady rows";
}

TEST(TerminalPicture, FormatsWithOnePeakShareARoof) {
  const auto picture = picture_of(
      "t", roofs(),
      {row("matmul", "fast", Format::bf16, 1e-6), row("matmul", "fast", Format::fp16, 1e-6),
       row("relu", "fast", Format::fp32, 1e-6)});
  ASSERT_THAT(picture.roofs, SizeIs(2));
  EXPECT_EQ(picture.roofs[0].name, "bf16, fp16");
  EXPECT_EQ(picture.roofs[0].flops_per_s, 8e11);
  EXPECT_EQ(picture.roofs[1].name, "fp32");
  EXPECT_EQ(picture.bandwidth_bytes_per_s, 1e10) << "half of the bytes are written";
  EXPECT_EQ(picture.bandwidth_name, "dram_copy");
}

TEST(TerminalPicture, WithoutRowsTheRoofsAreThoseOfTheDevice) {
  const auto picture = picture_of_device("h100-sxm");
  EXPECT_THAT(picture.title, HasSubstr("H100"));
  EXPECT_THAT(picture.points, IsEmpty());
  EXPECT_EQ(picture.bandwidth_bytes_per_s, 3.35e12);
  const auto bf16 = std::ranges::find(picture.roofs, 989.5e12, &FlatRoof::flops_per_s);
  ASSERT_NE(bf16, picture.roofs.end());
  EXPECT_THAT(bf16->name, HasSubstr("bf16"));
  EXPECT_THAT([] { picture_of_device("h1000"); }, ThrowsMessage<UsageError>(HasSubstr("h100")));
}

TEST(TerminalPicture, TheGoldenResultsHaveOneDevice) {
  const std::string folder = RIDGEBENCH_SOURCE_DIR "/tests/data/golden_results";
  const auto pictures = require_pictures(folder, "");
  ASSERT_THAT(pictures, SizeIs(1));
  EXPECT_FALSE(pictures.front().points.empty());
  EXPECT_FALSE(pictures.front().roofs.empty());
  EXPECT_THAT([&] { require_pictures(folder, "cuda:7"); },
              ThrowsMessage<UsageError>(HasSubstr("no device 'cuda:7'; allowed: ")));
}

// The run has rows above their ceilings, which raise the roof for all rows before it judges them.
TEST(TerminalPicture, APointHasTheShareOfItsJudgedRow) {
  const std::string folder = RIDGEBENCH_SOURCE_DIR "/results/amd-epyc-2-threads/2026-11-23-d549ba8";
  const JudgedRun run = judge(folder);
  bool raised = false;
  const auto pictures = require_pictures(folder, "");
  for (const RooflinePoint& point : pictures.front().points) {
    const auto row = std::ranges::find_if(run.records, [&](const Record& r) {
      return r.op + " " + r.technique == point.name && r.flops_per_s() == point.flops_per_s &&
             r.format.name() == point.format_name;
    });
    ASSERT_NE(row, run.records.end()) << point.name;
    EXPECT_EQ(point.share_of_roof, row->fraction_of_measured_roof) << row->id;
    EXPECT_LT(point.share_of_roof, 1 + kRoofMargin) << row->id;
    EXPECT_EQ(point.raised_its_roof, row->flagged(kAboveRoof)) << row->id;
    raised = raised || point.raised_its_roof;
  }
  EXPECT_TRUE(raised);
}

}  // namespace
}  // namespace ridgebench
