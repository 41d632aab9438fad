// Needs the library, but no GPU.
#include "kernels/common/cuda/lib/cublas_functions.cuh"

#include <gmock/gmock.h>

#include <string>
#include <string_view>

#include "kernels/common/error.hpp"
#include "kernels/common/machine.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/common/shape.hpp"

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

// The modes that LtProduct sets for scales of blocks of 32 and of 16.
TEST(CublasFunctions, TakeTheScalesOfMxfp8AndNvfp4) {
#if CUBLAS_VERSION >= 120800
  cublasLtMatmulDesc_t operation = nullptr;
  ASSERT_EQ(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
            CUBLAS_STATUS_SUCCESS);
  for (const auto mode :
       {CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3}) {
    for (const auto operand :
         {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_DESC_B_SCALE_MODE}) {
      EXPECT_EQ(cublasLtMatmulDescSetAttribute(operation, operand, &mode, sizeof mode),
                CUBLAS_STATUS_SUCCESS);
    }
  }
  EXPECT_EQ(cublasLtMatmulDescDestroy(operation), CUBLAS_STATUS_SUCCESS);
#endif
}

TEST(CublasFunctions, MultiplyMxfp8AndNvfp4FromBlackwellOn) {
  Registry::instance().resolve();
  const Shape shape({{"m", 128}, {"n", 128}, {"k", 128}}, Layout::nt);
  int found = 0;
  for (const auto& i : Registry::instance().implementations()) {
    const std::string_view operation = i->technique.operation;
    const bool nvfp4 = operation == "matmul_nvfp4";
    if ((operation != "matmul_mxfp8" && !nvfp4) || i->technique.name != "cublas") continue;
    ++found;
    const auto reason = [&](int compute_capability) {
      Machine machine;
      machine.compute_capability = compute_capability;
      return i->unsupported(machine, shape).value_or("serves it");
    };
    EXPECT_EQ(reason(90), std::string("cuBLASLt multiplies ") + (nvfp4 ? "nvfp4" : "mxfp8") +
                              " from compute capability 10.0 on");
    EXPECT_EQ(reason(100), "serves it");
    EXPECT_EQ(reason(120), "serves it");
  }
  EXPECT_EQ(found, 2);
}

}  // namespace
}  // namespace ridgebench::cuda
#endif
