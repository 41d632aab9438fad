#include "harness/cli/print_json.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

TEST(JsonText, HasTheLayoutOfTheLibrary) {
  const ordered_json json{{"text", "a \"quote\"\n"},
                          {"empty", ordered_json::array()},
                          {"none", ordered_json::object()},
                          {"list", {1, true, nullptr, {{"inner", -2}}}},
                          {"number", 0.5}};
  EXPECT_EQ(json_text(json), json.dump(2));
  EXPECT_EQ(json_text("a text"), "\"a text\"");
}

TEST(JsonText, ANumberHasTheFewestDigitsThatReadBackTheSame) {
  EXPECT_EQ(json_text(1e23), "1e+23");
  EXPECT_EQ(json_text(70e9), "70000000000.0");
  EXPECT_EQ(json_text(1.0), "1.0");
  for (const double value : {1e23, 6.3e24, 0.1, 1.25e-6, 2.0 / 3, 5e-324, 1.7976931348623157e308}) {
    EXPECT_EQ(ordered_json::parse(json_text(value)).get<double>(), value);
  }
}

TEST(JsonText, RefusesWhatIsNotFinite) {
  for (const double value : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    EXPECT_THROW((void)json_text({{"value", value}}), UsageError);
  }
}

TEST(JsonText, TextHasNoCharacterThatControlsATerminal) {
  EXPECT_EQ(json_text("\x1b[31m \u009b \u202e \x7f"), R"("\u001b[31m \u009b \u202e \u007f")");
}

TEST(JsonText, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(json_text({{"name\xff", "\xfe"}}), R"({
  "name\ufffd": "\ufffd"
})");
}

}  // namespace
}  // namespace ridgebench
