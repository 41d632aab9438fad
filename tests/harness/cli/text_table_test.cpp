#include "harness/cli/text_table.hpp"

#include <gtest/gtest.h>

namespace ridgebench {
namespace {

TEST(TextTable, NoCellOfCsvIsAFormula) {
  EXPECT_EQ(csv_cell("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(csv_cell("+a"), "'+a");
  EXPECT_EQ(csv_cell("-a,b"), "\"'-a,b\"");
  EXPECT_EQ(csv_cell("@a"), "'@a");
  EXPECT_EQ(csv_cell("a=b"), "a=b");
  EXPECT_EQ(csv_cell(-1.5), "-1.5");
  EXPECT_EQ(csv_cell(nullptr), "");
}

TEST(TextTable, AFilesTextIsOnlyTextInMarkdown) {
  EXPECT_EQ(markdown_text("<b>x|y\x1b*z*\n[a](b)_c"), "\\<b\\>x\\|y?\\*z\\*?\\[a\\](b)_c");
}

}  // namespace
}  // namespace ridgebench
