// Needs the library, but no GPU.
#include "kernels/common/cuda/lib/cublas_functions.cuh"

#include <gmock/gmock.h>

#include "kernels/common/error.hpp"

#ifndef RIDGEBENCH_NO_CUBLAS
namespace ridgebench::cuda {
namespace {

TEST(CublasFunctions, AreThoseOfTheLibraryThatWasCompiledAgainst) {
  EXPECT_EQ(cublasLtGetVersion() / 10000, std::size_t{CUBLAS_VER_MAJOR});
  EXPECT_STREQ(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
}

TEST(CublasFunctions, CarryArgumentsBothWays) {
  cublasLtMatmulDesc_t operation = nullptr;
  ASSERT_EQ(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(operation, nullptr);
  EXPECT_EQ(cublasLtMatmulDescDestroy(operation), CUBLAS_STATUS_SUCCESS);
}

TEST(CublasFunctions, AnUnknownOneIsNamed) {
  EXPECT_THAT(
      [] { static_cast<void>(cublas_library().require("cublasNone")); },
      ::testing::ThrowsMessage<Unsupported>("libcublas.so." + std::to_string(CUBLAS_VER_MAJOR) +
                                            " has no function cublasNone"));
}

}  // namespace
}  // namespace ridgebench::cuda
#endif
