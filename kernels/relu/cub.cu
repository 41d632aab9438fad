// ReLU by CUB (DeviceTransform), the yardstick: a general kernel around the function of one
// element. CUB's tuning chooses the tile and, on Hopper, bulk copies to shared memory.
#include "kernels/common/cuda/lib/cub.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::relu_cub {

struct Relu {
  template <class T>
  __device__ T operator()(T x) const {
    return to_float(x) < 0 ? T{} : x;
  }
};

const Registration cub{{.operation = "relu",
                        .name = "cub",
                        .engine = Engine::memory,
                        .arithmetic = Format::fp32,
                        .origin = Origin::library,
                        .supports = supports_cub_transform},
                       ElementTypes{},
                       []<class T>() { return planned_transform<T, Relu>(); }};

}  // namespace ridgebench::cuda::relu_cub
