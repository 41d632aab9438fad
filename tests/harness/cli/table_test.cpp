// The table shows the time of an access where a ceiling saturates latency, and only there.
#include "harness/cli/table.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/sample_record.hpp"

namespace ridgebench {
namespace {

std::string table_of(const Record& record) {
  std::ostringstream out;
  print_table(out, {record}, {}, {});
  return out.str();
}

TEST(Table, AChaseHasTheTimeOfAnAccess) {
  Record chase = sample_record();
  chase.saturates = Resource::latency;
  chase.shape = Shape({{"lines", 8}, {"accesses", 10}});
  chase.time->median = 1.5e-6;
  const std::string table = table_of(chase);
  EXPECT_NE(table.find("latency"), std::string::npos) << table;
  EXPECT_NE(table.find(" 150 ns"), std::string::npos) << table;
}

TEST(Table, OtherRowsHaveNoLatency) {
  Record other = sample_record();
  EXPECT_EQ(table_of(other).find("latency"), std::string::npos);
  other.saturates = Resource::latency;  // of a file in which the accesses are missing
  EXPECT_EQ(table_of(other).find("latency"), std::string::npos);
}

TEST(Table, SaysWhichShareAMovedControlPutsInDoubt) {
  const Record row = sample_record();
  std::ostringstream out;
  print_table(
      out, {row},
      {.controls = {{"copy@cpu", "copy@cpu:control", -0.2}}, .rows = {{row.id, {"copy@cpu"}}}}, {});
  EXPECT_TRUE(out.str().starts_with("CONTROL MOVED: copy@cpu took +25.0 % from first to last"))
      << out.str();
  EXPECT_NE(out.str().find("~75 %"), std::string::npos) << out.str();
  EXPECT_EQ(table_of(row).find('~'), std::string::npos);
}

TEST(Table, SaysWhatATechniqueChoseAndWhatHoldsItBack) {
  Record row = sample_record();
  row.choice = row.loaded_from = row.held_back_by = row.early_unknown = row.reason = std::nullopt;
  row.early.reset();
  row.flags = {};
  EXPECT_EQ(table_of(row).find("choice"), std::string::npos);
  row.choice = "tile:128x256";
  row.loaded_from = "mine.so";
  row.held_back_by = "OPENBLAS_CORETYPE=Prescott";
  row.early_unknown = "no graph";
  row.flags = {"library_held_back"};
  const std::string table = table_of(row);
  EXPECT_NE(table.find("  choice"), std::string::npos) << table;
  EXPECT_NE(table.find("  tile:128x256  "), std::string::npos) << table;
  EXPECT_NE(table.find("library_held_back, held back by OPENBLAS_CORETYPE=Prescott, from mine.so, "
                       "early starts unknown: no graph"),
            std::string::npos)
      << table;
}

TEST(Table, SaysWhoseLaunchesMayOverlap) {
  Record row = sample_record();
  row.early_unknown = row.reason = std::nullopt;
  for (const bool early : {false, true}) {
    for (const Regime regime : {Regime::steady, Regime::cold}) {
      row.early = early;
      row.regime = regime;
      const bool said = table_of(row).find("launches may overlap") != std::string::npos;
      EXPECT_EQ(said, early && regime == Regime::steady);
    }
  }
}

TEST(Table, SaysThatAnOwnKernelWasNotIsolated) {
  Record own = sample_record();
  own.reason = std::nullopt;
  own.flags = {"drift"};
  for (const std::optional<bool> isolated : {std::optional(true), std::optional<bool>()}) {
    own.isolated = isolated;
    EXPECT_EQ(table_of(own).find("not isolated"), std::string::npos);
  }
  own.isolated = false;
  EXPECT_NE(table_of(own).find("drift, not isolated"), std::string::npos);
  own.flags = {};
  EXPECT_NE(table_of(own).find("  not isolated"), std::string::npos);
}

TEST(Table, LeavesOutColumnsUntilItFitsATerminal) {
  Record row = sample_record();
  row.telemetry["window"] = {{"power_w", 300.0}, {"energy_per_launch_j", 0.5}};
  const auto lines_of = [&](std::optional<int> columns) {
    std::ostringstream out;
    print_table(out, {row}, {}, {.columns = columns});
    std::vector<std::string> lines;
    std::istringstream text(out.str());
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  };
  EXPECT_EQ(lines_of(std::nullopt).size(), 2) << "a file has every column";
  for (const int columns : {80, 100, 120}) {
    const auto lines = lines_of(columns);
    ASSERT_EQ(lines.size(), 3);
    for (const std::string& line : {lines[0], lines[1]}) {
      EXPECT_LE(line.size(), columns) << line;
    }
    EXPECT_EQ(lines[0].find("MFU") == std::string::npos, columns < 120) << lines[0];
    EXPECT_NE(lines[1].find("n:1000"), std::string::npos) << lines[1];
    EXPECT_NE(lines[2].find("left out"), std::string::npos);
    EXPECT_NE(lines[2].find("choice, cycles"), std::string::npos) << lines[2];
  }
}

}  // namespace
}  // namespace ridgebench
