// GeLU, tanh form (kernels/common/gelu_reference.hpp), in fp32 for device kernels: an accurate form
// for outputs of 32 bits, and a form with a single MUFU for narrower outputs. gelu_error.hpp has
// their errors.
#pragma once

#include <cuda_runtime.h>

namespace ridgebench::cuda {

// tanh(x), relative error up to 2^-11. PTX ISA, tanh.approx.f32.
__device__ inline float tanh_approx(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 2^x, relative error up to 2^-22. PTX ISA, ex2.approx.ftz.f32.
__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 1 / x, relative error up to 2^-23; 0 from 2^126 on. PTX ISA, rcp.approx.ftz.f32.
__device__ inline float reciprocal_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// x/2 (1 + tanh u) = x / (1 + e^(-2u)) with u = sqrt(2/pi) (x + 0.044715 x^3): two MUFUs, and no
// sum that cancels. NaN stays NaN, gelu(inf) = inf.
__device__ inline float gelu_exp2(float x) {
  constexpr float kLinear = -2.302208198F;  // -2 sqrt(2/pi) log2(e)
  constexpr float kCubic = -0.1029432397F;  // 0.044715 times that
  return x * reciprocal_approx(1.0F + exp2_approx(x * (kLinear + kCubic * (x * x))));
}

// The formula unchanged: one MUFU, and five more instructions than gelu_exp2.
__device__ inline float gelu_tanh_approx(float x) {
  constexpr float kLinear = 0.7978845608F;  // sqrt(2/pi)
  constexpr float kCubic = 0.03567740814F;  // 0.044715 times that
  const float half = 0.5F * x;
  return half + half * tanh_approx(x * (kLinear + kCubic * (x * x)));
}

// The form that the precision of the output needs.
template <class Out>
__device__ float gelu_approx(float x) {
  return sizeof(Out) == 4 ? gelu_exp2(x) : gelu_tanh_approx(x);
}

}  // namespace ridgebench::cuda
