// GeLU in pairs of fp16: every value of both fp8 formats against the reference.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/common/cuda/gelu_half2.cuh"
#include "kernels/common/gelu_error.hpp"

namespace ridgebench::emulator {
namespace {

// The emulator rounds tanh correctly; the GPU's may err by this much of the norm besides.
constexpr double kTanhOfTheGpu = 0x1.03p-11;

template <class T>
void expect_right_for_every_code() {
  double largest = 0;
  for (unsigned code = 0; code < 256; ++code) {
    SCOPED_TRACE(code);
    const double x = decode(T{static_cast<std::uint8_t>(code)});
    // In the low and in the high half of a word, beside another number.
    const __half2 pair = cuda::to_half2<T, false>(code << 8U | 0x3cU);
    const __half2 other = cuda::to_half2<T, true>(code << 16U | 0x3c00003cU);
    ASSERT_EQ(__half_as_ushort(__high2half(pair)), __half_as_ushort(__low2half(other)));
    const __half2 y = cuda::gelu_tanh_approx(pair);
    const double result = __half2float(__high2half(y));
    const double expected = gelu_reference(x);
    ASSERT_EQ(std::isnan(result), std::isnan(expected));
    const auto narrow = static_cast<std::uint8_t>(cuda::from_half2<T>(y) >> 8U);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(decode(T{narrow})));
      continue;
    }
    EXPECT_EQ(narrow, encode<T>(static_cast<float>(result)).bits);
    if (std::isinf(expected) || expected == 0) {
      EXPECT_EQ(result, expected);
      continue;
    }
    const double error = std::abs(result - expected) / gelu_norm(x);
    EXPECT_LE(error, cuda::kGeluHalf2Error - kTanhOfTheGpu);
    largest = std::max(largest, error);
  }
  EXPECT_GT(largest, cuda::kGeluTanhError) << "a looser bound than it needs";
}

TEST(GeluHalf2, IsRightForEveryCodeOfE4m3) { expect_right_for_every_code<Fp8E4m3>(); }
TEST(GeluHalf2, IsRightForEveryCodeOfE5m2) { expect_right_for_every_code<Fp8E5m2>(); }

}  // namespace
}  // namespace ridgebench::emulator
