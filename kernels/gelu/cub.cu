// GeLU by CUB (DeviceTransform), the yardstick: the same function of one element as in vec16.cu
// (kernels/common/cuda/gelu.cuh), in a general kernel that CUB tunes for the device.
#include "kernels/common/cuda/lib/cub.cuh"
#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda {
namespace {

struct Gelu {
  __device__ float operator()(float x) const { return gelu_exp2(x); }
  template <class T>
  __device__ T operator()(T x) const {
    return from_float<T>(gelu_tanh_approx(to_float(x)));
  }
};

template <class T>
std::shared_ptr<void> prepare(Queue& queue, const Shape& /*shape*/) {
  return choose_tile<T>(queue, Gelu{});
}

template <class T>
Launch bind(Queue& queue, const std::shared_ptr<void>& /*scratch*/, const Shape& shape, const T* x,
            T* y) {
  return transform(queue, shape["n"], x, y, Gelu{});
}

constexpr Technique technique(double error) {
  return {.operation = "gelu",
          .name = "cub",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .origin = Origin::library,
          .approximation_error = error};
}

const Registration fp32{technique(kGeluExp2Error), planned(prepare<float>, bind<float>)};
const Registration narrow{technique(kGeluTanhError), planned(prepare<Fp16>, bind<Fp16>),
                          planned(prepare<Bf16>, bind<Bf16>),
                          planned(prepare<Fp8E4m3>, bind<Fp8E4m3>),
                          planned(prepare<Fp8E5m2>, bind<Fp8E5m2>)};

}  // namespace
}  // namespace ridgebench::cuda
