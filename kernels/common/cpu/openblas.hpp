// OpenBLAS, the fp32 yardstick of the host. Only openblas.cpp knows its headers. Every function
// throws Unsupported where the build has no OpenBLAS or a size does not fit its 32-bit integers.
#pragma once

#include <string>

#include "kernels/common/queue.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench {

// Version, threading and the core that its kernels were chosen for; "" where the build has none.
std::string openblas_version();

// The variable by which OpenBLAS is told whose kernels to use; it reads it while it is loaded.
inline constexpr const char* kOpenblasCore = "OPENBLAS_CORETYPE";
// What that variable should be where OpenBLAS uses kernels of an older instruction set than this
// processor's, half as fast or slower: a release that is older than the processor does not know it,
// or somebody set the variable. Empty where the choice is good.
std::string better_openblas_core();

// s = x . y with n elements each.
Launch openblas_dot(Queue& queue, const Shape& shape, const float* x, const float* y, float* s);
// y[m] = A[m,n] x[n].
Launch openblas_matvec(Queue& queue, const Shape& shape, const float* a, const float* x, float* y);
// C[m,n] = A B in the shape's layout.
Launch openblas_matmul(Queue& queue, const Shape& shape, const float* a, const float* b, float* c);

}  // namespace ridgebench
