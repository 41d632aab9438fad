// Matrix product by oneDNN, plain and with bias and GeLU in its epilogue: the yardstick of bf16. The
// library chooses its instructions (AMX, AVX512_BF16, or fp32 after widening).
#include "kernels/common/cpu/onednn.hpp"

namespace ridgebench {
namespace {

constexpr auto bind_for = []<class T>() { return onednn<OneDnn::matmul, 2, T>(); };
constexpr auto bind_gelu_for = []<class T>() { return onednn<OneDnn::matmul_gelu, 3, T>(); };

Technique product_gelu(Format format) {
  Technique technique = onednn_product("matmul_gelu", format);
  technique.approximation_error = 1e-6;
  return technique;
}

const Registration fp32{onednn_product("matmul", Format::fp32), Types<float>{}, bind_for};
const Registration bf16{onednn_product("matmul", Format::bf16), Types<Bf16>{}, bind_for};
const Registration fp32_gelu{product_gelu(Format::fp32), Types<float>{}, bind_gelu_for};
const Registration bf16_gelu{product_gelu(Format::bf16), Types<Bf16>{}, bind_gelu_for};

}  // namespace
}  // namespace ridgebench
