// Matrix product by oneDNN, plain and with bias and GeLU in its epilogue: the yardstick of bf16.
// The library chooses its instructions (AMX, AVX512_BF16, or fp32 after widening).
#include "kernels/common/cpu/onednn.hpp"

namespace ridgebench {
namespace {

const Registration onednn_matmul{
    []<class T>() { return onednn_product("matmul", FormatOf<T>::value); }, Types<float, Bf16>{},
    []<class T>() { return onednn<OneDnn::matmul, 2, T>(); }};
const Registration onednn_matmul_gelu{
    []<class T>() {
      Technique technique = onednn_product("matmul_gelu", FormatOf<T>::value);
      technique.approximation_error = 1e-6;
      return technique;
    },
    Types<float, Bf16>{}, []<class T>() { return onednn<OneDnn::matmul_gelu, 3, T>(); }};

}  // namespace
}  // namespace ridgebench
