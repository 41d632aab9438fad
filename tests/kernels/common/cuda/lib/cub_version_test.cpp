#include "kernels/common/cuda/lib/cub_version.hpp"

#include <gmock/gmock.h>

namespace ridgebench::cuda {
namespace {

TEST(CubVersion, AnOlderCubIsNamedWithTheToolkitThatHelps) {
  EXPECT_THAT(
      cub_lacks(kCubTransform, 200302),
      ::testing::Optional(std::string("CUB 2.3.2 has no DeviceTransform; that of CUDA 12.9 has")));
  EXPECT_THAT(cub_lacks(kCubTransformReduce, 200302),
              ::testing::Optional(std::string(
                  "CUB 2.3.2 has no DeviceReduce::TransformReduce; that of CUDA 12.5 has")));
  EXPECT_EQ(cub_lacks(kCubTransform, 0), "built without CUB");
}

TEST(CubVersion, TheCubOfEachToolkitServesWhatItHas) {
  EXPECT_TRUE(cub_lacks(kCubTransform, 200700));  // 12.8
  EXPECT_FALSE(cub_lacks(kCubTransform, 200802));
  EXPECT_FALSE(cub_lacks(kCubTransformReduce, 200400));
  EXPECT_FALSE(cub_lacks(kCubTransform, 300001));  // 13.0
}

}  // namespace
}  // namespace ridgebench::cuda
