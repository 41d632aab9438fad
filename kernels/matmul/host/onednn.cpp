// Matrix product by oneDNN, plain and with bias and GeLU in its epilogue: the yardstick of bf16. It
// chooses its own instructions (AMX, AVX512_BF16 or fp32 after widening).
#include "kernels/common/cpu/onednn.hpp"

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

template <class T>
OneDnnPlan prepare(Queue& queue, const Shape& shape) {
  return plan_onednn_matmul(queue, FormatOf<T>::value, shape);
}
template <class T>
Launch bind(Queue& queue, const OneDnnPlan& plan, const Shape& /*shape*/, const T* a, const T* b,
            T* c) {
  return bind_onednn(queue, plan, {a, b, c});
}

template <class T>
OneDnnPlan prepare_gelu(Queue& queue, const Shape& shape) {
  return plan_onednn_matmul_gelu(queue, FormatOf<T>::value, shape);
}
template <class T>
Launch bind_gelu(Queue& queue, const OneDnnPlan& plan, const Shape& /*shape*/, const T* a,
                 const T* b, const T* bias, T* c) {
  return bind_onednn(queue, plan, {a, b, bias, c});
}

const Registration fp32{onednn_product("matmul", Format::fp32),
                        planned(prepare<float>, bind<float>)};
const Registration bf16{onednn_product("matmul", Format::bf16), planned(prepare<Bf16>, bind<Bf16>)};

Technique product_gelu(Format format) {
  Technique technique = onednn_product("matmul_gelu", format);
  technique.approximation_error = 1e-6;
  return technique;
}

const Registration fp32_gelu{product_gelu(Format::fp32),
                             planned(prepare_gelu<float>, bind_gelu<float>)};
const Registration bf16_gelu{product_gelu(Format::bf16),
                             planned(prepare_gelu<Bf16>, bind_gelu<Bf16>)};

}  // namespace
}  // namespace ridgebench
