// GeLU by oneDNN (eltwise_gelu_tanh), the yardstick of fp32 and bf16. It stores through the caches:
// every line that it writes is read from memory first.
#include "kernels/common/cpu/onednn.hpp"

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

template <class T>
OneDnnPlan prepare(Queue& queue, const Shape& shape) {
  return plan_onednn_eltwise(queue, Eltwise::gelu_tanh, FormatOf<T>::value, shape);
}

template <class T>
Launch bind(Queue& queue, const OneDnnPlan& plan, const Shape& /*shape*/, const T* x, T* y) {
  return bind_onednn(queue, plan, {x, y});
}

const Registration onednn{{.operation = "gelu",
                           .name = "onednn",
                           .engine = Engine::fma,
                           .arithmetic = Format::fp32,
                           .origin = Origin::library},
                          planned(prepare<float>, bind<float>),
                          planned(prepare<Bf16>, bind<Bf16>)};

}  // namespace
}  // namespace ridgebench
