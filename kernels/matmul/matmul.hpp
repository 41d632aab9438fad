// Matrix-matrix product C[M,N] = A B in three layouts (kernels/common/shape.hpp), 2mnk FLOPs, also
// as a batch and with leading dimensions (kernels/common/product_strides.hpp), and
// the same with bias and GeLU in its epilogue, 2mnk + 21mn. Output in the input's format, fp8 in
// bf16; mixed fp8 pairs multiply activations by gradients. With block scales, 2mnk: DeepGEMM counts
// no multiplication by a scale either (tests/test_core.py), which is 1 in 128 of those by numbers.
#pragma once

#include "kernels/common/registry.hpp"

namespace ridgebench {

// matmul: operands a, b, c.
Operation matmul_operation();
// matmul_gelu: operands a, b, bias (N elements in the output's format), c; layout nt only.
Operation matmul_gelu_operation();
// matmul_block_scaled: operands a, b, scale_a, scale_b (block_scales.hpp), c; fp8_e4m3 in layout nt
// only, as DeepSeek-V3 trains. C[m,n] is the sum over k of a scale_a b scale_b.
Operation matmul_block_scaled_operation();
// matmul_mxfp8: the same with scales in ue8m0, one for 32 numbers along k of a row of A or a column
// of B, in the layout that Blackwell's tensor cores read.
Operation matmul_mxfp8_operation();
// matmul_nvfp4: the same of fp4_e2m1, two numbers in a byte, with a scale in fp8_e4m3 for 16
// numbers; k is even.
Operation matmul_nvfp4_operation();
// matmul_grouped: operands a [m, k], b [g, n, k], c [m, n]; each token, a row of A, is multiplied
// by the matrix of its group (token_groups.hpp), as in a layer of experts. 2mnk FLOPs. Matrices of
// groups without a token are not read.
Operation matmul_grouped_operation();

// Side of the largest square product that a launch of a technique of this pace finishes in a tenth
// of a second, a power of two.
std::int64_t side_of_square(Pace pace, const Machine& machine);

inline const RegisterOperation matmul{matmul_operation()};
inline const RegisterOperation matmul_gelu{matmul_gelu_operation()};
inline const RegisterOperation matmul_block_scaled{matmul_block_scaled_operation()};
inline const RegisterOperation matmul_mxfp8{matmul_mxfp8_operation()};
inline const RegisterOperation matmul_nvfp4{matmul_nvfp4_operation()};
inline const RegisterOperation matmul_grouped{matmul_grouped_operation()};

}  // namespace ridgebench
