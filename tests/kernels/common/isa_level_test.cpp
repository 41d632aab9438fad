#include "kernels/common/isa_level.hpp"

#include <gmock/gmock.h>

namespace ridgebench {
namespace {

TEST(IsaLevel, ABuildForAllLevelsServesEveryProcessor) {
  EXPECT_EQ(only_isa(), Isa::none);  // scripts/test.sh builds all levels
  for (const Isa host : {Isa::v2, Isa::v3, Isa::v4}) EXPECT_EQ(wrong_isa(Isa::none, host), "");
}

TEST(IsaLevel, ABuildForOneLevelServesItOnly) {
  EXPECT_EQ(wrong_isa(Isa::v3, Isa::v3), "");
  for (const Isa host : {Isa::v2, Isa::v4}) {
    EXPECT_THAT(wrong_isa(Isa::v3, host),
                ::testing::AllOf(::testing::HasSubstr("built for x86-64-v3 processors only"),
                                 ::testing::HasSubstr(std::string(name(host)) + "; allowed: ")));
  }
}

}  // namespace
}  // namespace ridgebench
