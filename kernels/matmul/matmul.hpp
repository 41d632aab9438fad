// Matrix-matrix product C[M,N] = A B in three layouts (kernels/common/shape.hpp), 2mnk FLOPs, and
// the same with bias and GeLU in its epilogue, 2mnk + 21mn. Output in the input's format, fp8 in
// bf16; mixed fp8 pairs multiply activations by gradients.
#pragma once

#include "kernels/common/registry.hpp"

namespace ridgebench {

// matmul: operands a, b, c.
Operation matmul_operation();
// matmul_gelu: operands a, b, bias (N elements in the output's format), c; layout nt only.
Operation matmul_gelu_operation();

inline const RegisterOperation matmul{matmul_operation()};
inline const RegisterOperation matmul_gelu{matmul_gelu_operation()};

}  // namespace ridgebench
