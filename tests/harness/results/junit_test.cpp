#include "harness/results/junit.hpp"

#include <gmock/gmock.h>

#include "tests/support/sample_record.hpp"

namespace ridgebench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string xml_of(Status status, const std::string& reason) {
  Record r = sample_record("copy/fast/bf16/n:1000/steady@cpu");
  r.status = status;
  r.reason = reason;
  return junit_xml(std::vector<Record>{r});
}

TEST(JUnit, HasATestCasePerRow) {
  const std::string xml =
      junit_xml(std::vector<Record>{sample_record("one"), sample_record("two")});
  EXPECT_THAT(xml, HasSubstr("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"copy.fast\" name=\"one\"/>"));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"copy.fast\" name=\"two\"/>"));
}

TEST(JUnit, SaysWhyARowIsNotOk) {
  EXPECT_THAT(xml_of(Status::wrong, "error 3"),
              HasSubstr("<failure type=\"wrong\" message=\"error 3\"/></testcase>"));
  EXPECT_THAT(xml_of(Status::suspect, "too fast"), HasSubstr("<failure type=\"suspect\""));
  EXPECT_THAT(xml_of(Status::failed, "lost"), HasSubstr("failures=\"1\""));
  const std::string skipped = xml_of(Status::skipped, "no tensor cores");
  EXPECT_THAT(skipped, HasSubstr("<skipped message=\"no tensor cores\"/>"));
  EXPECT_THAT(skipped, HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
}

TEST(JUnit, NamesTheCeilingsThatMovedUnderARow) {
  const std::vector<Record> rows{sample_record("one"), sample_record("two")};
  const Doubts doubts{.rows = {{"two", {"dram_copy/a", "fma_peak/b"}}}};
  const std::string xml = junit_xml(rows, doubts);
  EXPECT_THAT(xml, HasSubstr("name=\"one\"/>"));
  EXPECT_THAT(xml, HasSubstr("name=\"two\"><system-out>control moved: dram_copy/a, fma_peak/b; the "
                             "share of its roof is doubted</system-out></testcase>"));
}

TEST(JUnit, EscapesWhatXmlDoesNotHold) {
  const std::string xml = xml_of(Status::failed, "a<b & \"c\"\n\x1b[0m ]]> \uFFFF \xff");
  EXPECT_THAT(xml, HasSubstr("a&lt;b &amp; &quot;c&quot;??[0m ]]&gt; ? ?"));
  EXPECT_THAT(xml, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace ridgebench
