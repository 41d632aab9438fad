// Matrix-vector product by oneDNN, the yardstick of fp32 and bf16: to the library it is a matmul
// with one column.
#include "kernels/common/cpu/onednn.hpp"

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

template <class T>
OneDnnPlan prepare(Queue& queue, const Shape& shape) {
  return plan_onednn_matvec(queue, FormatOf<T>::value, shape);
}

template <class T>
Launch bind(Queue& queue, const OneDnnPlan& plan, const Shape& /*shape*/, const T* a, const T* x,
            T* y) {
  return bind_onednn(queue, plan, {a, x, y});
}

const Registration fp32{onednn_product("matvec", Format::fp32),
                        planned(prepare<float>, bind<float>)};
const Registration bf16{onednn_product("matvec", Format::bf16), planned(prepare<Bf16>, bind<Bf16>)};

}  // namespace
}  // namespace ridgebench
