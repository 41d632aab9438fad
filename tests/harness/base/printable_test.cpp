#include "harness/base/printable.hpp"

#include <gtest/gtest.h>

namespace ridgebench {
namespace {

TEST(Printable, KeepsTextOfAnyLanguage) {
  for (const char* text :
       {"", "NVIDIA H100 80GB HBM3", "Intel(R) Xeon(R)", "é µ Ω", "显卡", "🙂"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, ControlCharactersBecomeQuestionMarks) {
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "?[31mred?[0m");
  EXPECT_EQ(printable("a\nb\rc\td\x7f"), "a?b?c?d?");
  EXPECT_EQ(printable(std::string("nul\0", 4)), "nul?");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "?31m")
      << "a control sequence may start with one of C1";
}

TEST(Printable, TextCannotBeReorderedOrHidden) {
  EXPECT_EQ(printable("a\u202eb\u2066c\u200bd\ufeff"), "a?b?c?d?");
  EXPECT_EQ(printable("line\u2028separator"), "line?separator");
}

TEST(Printable, BytesThatAreNotUtf8BecomeQuestionMarks) {
  EXPECT_EQ(printable("\xff\xfe"), "??");
  EXPECT_EQ(printable("\xc0\xaf"), "??") << "an overlong form";
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????") << "beyond Unicode";
  EXPECT_EQ(printable("cut \xe2\x82"), "cut ??");
}

}  // namespace
}  // namespace ridgebench
