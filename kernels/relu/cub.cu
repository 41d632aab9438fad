// ReLU by CUB (DeviceTransform), the yardstick: a general kernel around the one-element function,
// with the tile and, on Hopper, the bulk copies to shared memory that CUB's tuning chooses.
#include "kernels/common/cuda/lib/cub.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda {
namespace {

struct Relu {
  template <class T>
  __device__ T operator()(T x) const {
    return to_float(x) < 0 ? T{} : x;
  }
};

template <class T>
std::shared_ptr<void> prepare(Queue& queue, const Shape& /*shape*/) {
  return choose_tile<T>(queue, Relu{});
}

template <class T>
Launch bind(Queue& queue, const std::shared_ptr<void>& /*scratch*/, const Shape& shape, const T* x,
            T* y) {
  return transform(queue, shape["n"], x, y, Relu{});
}

const Registration cub{{.operation = "relu",
                        .name = "cub",
                        .engine = Engine::memory,
                        .arithmetic = Format::fp32,
                        .origin = Origin::library},
                       planned(prepare<float>, bind<float>),
                       planned(prepare<Fp16>, bind<Fp16>),
                       planned(prepare<Bf16>, bind<Bf16>),
                       planned(prepare<Fp8E4m3>, bind<Fp8E4m3>),
                       planned(prepare<Fp8E5m2>, bind<Fp8E5m2>)};

}  // namespace
}  // namespace ridgebench::cuda
