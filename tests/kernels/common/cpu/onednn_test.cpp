#include "kernels/common/cpu/onednn.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "kernels/common/error.hpp"
#include "tests/support/host_queue.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(OneDnn, SaysWhatItLacksAndWhichVariableLimitsIt) {
  if (onednn_version().empty()) GTEST_SKIP() << "no oneDNN";
  ASSERT_EQ(setenv("DNNL_MAX_CPU_ISA", "SSE41", 1), 0);
  HostQueue queue;
  const Shape shape({{"m", 16}, {"n", 16}, {"k", 32}}, Layout::nt);
  std::string reason;
  try {
    create_onednn(OneDnn::matmul, queue, Format::bf16, shape);
  } catch (const Unsupported& unsupported) {
    reason = unsupported.what();
  }
  unsetenv("DNNL_MAX_CPU_ISA");
  if (reason.empty()) GTEST_SKIP() << "this oneDNN multiplies bf16 without the instructions";
  EXPECT_THAT(reason, StartsWith("oneDNN " + onednn_version() + " has no matmul in bf16"));
  EXPECT_THAT(reason, HasSubstr("on this processor under DNNL_MAX_CPU_ISA=SSE41"));
}

}  // namespace
}  // namespace ridgebench
