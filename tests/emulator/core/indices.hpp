// The built-in variables that identify a thread.
#pragma once

#include <vector_types.h>

// NOLINTBEGIN: CUDA's own names
inline uint3 threadIdx;
inline uint3 blockIdx;
inline dim3 blockDim;
inline dim3 gridDim;
inline constexpr int warpSize = 32;
// NOLINTEND
