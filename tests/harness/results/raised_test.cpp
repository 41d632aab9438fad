// The roofs that rows, and second looks at ceilings, raise.
#include "harness/results/judged/raised.hpp"

#include <gtest/gtest.h>

#include "harness/results/suspect.hpp"
#include "tests/support/sample_record.hpp"

namespace ridgebench {
namespace {

// A ceiling of 4 GB/s, and a row of 5 GB/s under it.
std::vector<Record> ceiling_and_faster_row() {
  Record ceiling = sample_record("dram_copy/streaming/fp32/n:1000/steady@cpu");
  ceiling.saturates = Resource::memory;
  ceiling.level.reset();
  ceiling.flops = 0;
  ceiling.bytes = 4000;
  ceiling.time = Summary{.median = 1e-6, .ci_low = 1e-6, .ci_high = 1e-6, .samples = 3};
  ceiling.flags = {};
  Record row = ceiling;
  row.id = "relu/streaming/fp32/n:1000/steady@cpu";
  row.op = "relu";
  row.role = Role::kernel;
  row.saturates.reset();
  row.bytes = 5000;
  row.roof = RecordedRoof{.flops_per_s = std::nullopt,
                          .bytes_per_s = 4e9,
                          .compute_ceiling = std::nullopt,
                          .memory_ceiling = ceiling.id};
  row.second_look.reset();
  return {ceiling, row};
}

TEST(RaisedRoof, ByARowAboveItUnlessCachesServedTheRow) {
  std::vector<Record> rows = ceiling_and_faster_row();
  EXPECT_DOUBLE_EQ(raised_rows(rows)[0].raised, 1.25);
  EXPECT_EQ(raised_rows(rows)[0].raised_by, rows[1].id);
  rows[1].flags = {kServedByCache};
  EXPECT_EQ(raised_rows(rows)[0].raised, 1);
  EXPECT_EQ(raised_rows(rows)[0].raised_by, std::nullopt);
}

TEST(RaisedRoof, ByASecondLookWhateverServedTheRow) {
  for (const bool cached : {false, true}) {
    std::vector<Record> rows = ceiling_and_faster_row();
    if (cached) rows[1].flags = {kServedByCache};
    rows[1].second_look =
        SecondLook{.times_s = {}, .bytes_per_s = 6e9, .flops_per_s = std::nullopt};
    const std::vector<RaisedRow> found = raised_rows(rows);
    EXPECT_DOUBLE_EQ(found[0].raised, 1.5);
    EXPECT_EQ(found[0].raised_by, rows[0].id) << "the ceiling itself";
    EXPECT_DOUBLE_EQ(*found[1].record.roof->bytes_per_s, 6e9);
  }
}

}  // namespace
}  // namespace ridgebench
