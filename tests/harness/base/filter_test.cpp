#include "harness/base/filter.hpp"

#include <gmock/gmock.h>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::string kId = "matmul/packed/bf16/m:1024/n:1024/k:1024/layout:nt/steady@cpu";

TEST(Filter, MatchesAnywhereInTheId) {
  EXPECT_TRUE(Filter("").matches(kId));
  EXPECT_TRUE(Filter("packed/(bf16|fp16)").matches(kId));
  EXPECT_TRUE(Filter("^matmul/.*@cpu$").matches(kId));
  EXPECT_FALSE(Filter("^packed").matches(kId));
}

TEST(Filter, ALeadingMinusInverts) {
  EXPECT_FALSE(Filter("-packed").matches(kId));
  EXPECT_TRUE(Filter("-relu|gelu").matches(kId));
}

// An engine that backtracks needs more time than there is for the first two, and its stack ends at
// the third.
TEST(Filter, AnyTextTakesLittleTime) {
  const std::string id(400, 'a');
  EXPECT_FALSE(Filter("(.+)+Z").matches(id));
  EXPECT_FALSE(Filter("(a|aa)+$b").matches(id));
  EXPECT_FALSE(Filter(std::string(20000, '(') + "Z" + std::string(20000, ')')).matches(id));
  EXPECT_THROW(Filter("((((a{1000}){1000}){1000}){1000})"), UsageError);
}

TEST(Filter, AMalformedTextIsRefusedInAShortLine) {
  for (const char* malformed : {"(", "[", "*", "a{2,1}", "(?!relu)", "\\1", "\xff"}) {
    EXPECT_THROW(Filter{malformed}, UsageError) << malformed;
  }
  EXPECT_THAT([] { Filter(std::string(100000, '(')); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("...' is not a regular expression"),
                                              testing::SizeIs(testing::Lt(300)))));
}

TEST(Filter, NamesAnOperationIfItsMatchNeedsTheName) {
  for (const char* naming : {"matmul", "^matm", "^(relu|matmul)/", "^matmul/packed/bf16", "^mat"}) {
    EXPECT_TRUE(Filter(naming).names_operation_of(kId)) << naming;
  }
  for (const char* other : {"", "bf16", "packed", ".", "^[a-z_]+/packed", "-relu", "-gelu/naive"}) {
    EXPECT_TRUE(Filter(other).matches(kId)) << other;
    EXPECT_FALSE(Filter(other).names_operation_of(kId)) << other;
  }
  EXPECT_FALSE(Filter("relu").names_operation_of(kId)) << "matches nothing of the id";
}

}  // namespace
}  // namespace ridgebench
