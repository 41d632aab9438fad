// Pointers of CUDA's own types in `bind`: half, bfloat16 and fp8.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "kernels/common/interface/native_types.hpp"

namespace ridgebench {

template <>
struct FormatOf<__half> : NativeType<__half, Format::fp16> {};
template <>
struct FormatOf<__nv_bfloat16> : NativeType<__nv_bfloat16, Format::bf16> {};
template <>
struct FormatOf<__nv_fp8_e4m3> : NativeType<__nv_fp8_e4m3, Format::fp8_e4m3> {};
template <>
struct FormatOf<__nv_fp8_e5m2> : NativeType<__nv_fp8_e5m2, Format::fp8_e5m2> {};

}  // namespace ridgebench
