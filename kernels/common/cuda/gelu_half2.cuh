// GeLU, tanh form, of two numbers at once in fp16, for outputs in fp8: each instruction but MUFU
// computes both. gelu_error.hpp has its error.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/cuda/fp8_pairs.cuh"

namespace ridgebench::cuda {

// tanh of both, relative error up to 2^-10.987. PTX ISA, tanh.approx.f16x2.
__device__ inline __half2 tanh_approx(__half2 x) {
  std::uint32_t y;
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(y) : "r"(word_of(x)));
  return half2_of(y);
}

// As gelu_tanh_approx (gelu.cuh). Where x^2 overflows, u is infinite with the sign of x, and its
// tanh 1 or -1, which is the tanh of every |x| from 4 on. NaN stays NaN, gelu(inf) = inf.
__device__ inline __half2 gelu_tanh_approx(__half2 x) {
  const __half2 linear = __float2half2_rn(0.7978845608F);  // sqrt(2/pi)
  const __half2 cubic = __float2half2_rn(0.03567740814F);  // 0.044715 times that
  const __half2 u = __hmul2(x, __hfma2(cubic, __hmul2(x, x), linear));
  const __half2 half = __hmul2(x, __float2half2_rn(0.5F));
  return __hfma2(half, tanh_approx(u), half);
}

}  // namespace ridgebench::cuda
