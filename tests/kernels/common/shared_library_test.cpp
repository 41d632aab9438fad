#include "kernels/common/shared_library.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(SharedLibrary, AMissingLibraryCostsItsRowsOnly) {
  const SharedLibrary library("libno-such-library.so.1");
  EXPECT_FALSE(library.loaded());
  EXPECT_EQ(library.find("cos"), nullptr);
  EXPECT_THAT([&] { static_cast<void>(library.require("cos")); },
              ThrowsMessage<Unsupported>(HasSubstr("libno-such-library.so.1 is not installed")));
}

const SharedLibrary& math() {
  static const SharedLibrary loaded("libm.so.6");
  return loaded;
}
RIDGEBENCH_LOADED_FUNCTION(math(), cosf);

TEST(SharedLibrary, CallsAFunctionByItsOwnName) {
  if (!math().loaded()) GTEST_SKIP() << "this system has no libm.so.6";
  EXPECT_EQ(ridgebench::cosf(0.0F), 1.0F);
  EXPECT_THAT([] { static_cast<void>(math().require("no_such_function")); },
              ThrowsMessage<Unsupported>(HasSubstr("libm.so.6 has no function no_such_function")));
}

TEST(SharedLibrary, IsLoadedAgainAfterUnloading) {
  SharedLibrary library("libm.so.6");
  if (!library.loaded()) GTEST_SKIP() << "this system has no libm.so.6";
  library.unload();
  EXPECT_FALSE(library.loaded());
  EXPECT_TRUE(SharedLibrary("libm.so.6").loaded());
}

}  // namespace
}  // namespace ridgebench
