// OpenBLAS, the fp32 yardstick of the host, loaded at the first call. Only openblas.cpp knows its
// header. The bind functions throw Unsupported where the library is missing.
#pragma once

#include <optional>
#include <string>

#include "kernels/common/format.hpp"
#include "kernels/common/machine.hpp"
#include "kernels/common/queue.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench {

// Version, threading and the core type whose kernels the library uses ("... on Zen"); "" where the
// build or this machine has no OpenBLAS. Loads it.
std::string openblas_version();

// Environment variable that fixes the core type; the library reads it while it is loaded.
inline constexpr const char* kOpenblasCore = "OPENBLAS_CORETYPE";
// A core type whose kernels use this processor's newest instruction set, where the user's
// OPENBLAS_CORETYPE keeps the library from them; "" where nothing does. Loads the library.
std::string better_openblas_core();

// Technique::supports of every use of the library; it does not load it.
std::optional<std::string> supports_openblas(const Machine& machine, const Shape& shape,
                                             FormatPair format);

// s = x . y with n elements each.
Launch openblas_dot(Queue& queue, const Shape& shape, const float* x, const float* y, float* s);
// y[m] = A[m,n] x[n].
Launch openblas_matvec(Queue& queue, const Shape& shape, const float* a, const float* x, float* y);
// C[m,n] = A B in the shape's layout; the products of a batch one after the other.
Launch openblas_matmul(Queue& queue, const Shape& shape, const float* a, const float* b, float* c);

}  // namespace ridgebench
