// Special functions of the multi-function unit (MUFU), one instruction each.
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

}  // namespace ridgebench::cuda
