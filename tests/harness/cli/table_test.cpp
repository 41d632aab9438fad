// The table shows the time of an access where a ceiling saturates latency, and only there.
#include "harness/cli/table.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/sample_record.hpp"

namespace ridgebench {
namespace {

std::string table_of(const Record& record) {
  std::ostringstream out;
  print_table(out, {record}, {});
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

}  // namespace
}  // namespace ridgebench
