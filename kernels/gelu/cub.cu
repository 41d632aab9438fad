// GeLU by CUB (DeviceTransform), the yardstick. A general kernel, which CUB tunes for the device,
// applies the function of kernels/common/cuda/gelu.cuh. vec16.cu applies the same one, except in
// fp8.
#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/lib/cub.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/gelu_error.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::gelu_cub {

struct Gelu {
  template <class T>
  __device__ T operator()(T x) const {
    return from_float<T>(gelu_approx<T>(to_float(x)));
  }
};

template <class T>
Technique technique() {
  return {.operation = "gelu",
          .name = "cub",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .origin = Origin::library,
          .supports = supports_cub_transform,
          .approximation_error = kGeluError<T>};
}

const Registration cub{[]<class T>() { return technique<T>(); }, ElementTypes{},
                       []<class T>() { return planned_transform<T, Gelu>(); }};

}  // namespace ridgebench::cuda::gelu_cub
