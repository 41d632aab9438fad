// GeLU as the lecture writes it, one thread for one element, with the CUDA library's tanhf: some
// twenty instructions, two of them on the special-function units. For fp32 that hides behind the
// eight bytes of an element and the limit is memory bandwidth; for fp8, with two bytes, it is
// instruction issue.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda {
namespace {

constexpr int kThreads = 256;

// 0.797884561 = sqrt(2/pi)
__device__ float gelu(float x) {
  return 0.5F * x * (1 + tanhf(0.797884561F * (x + 0.044715F * x * x * x)));
}

template <class T>
__global__ void gelu_naive(const T* x, T* y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = from_float<T>(gelu(to_float(x[i])));
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  const std::int64_t n = shape["n"];
  return [=, blocks = blocks_for(n, kThreads), stream = stream_of(queue)] {
    gelu_naive<<<blocks, kThreads, 0, stream>>>(x, y, n);
  };
}

const Registration naive{
    {.operation = "gelu", .name = "naive", .engine = Engine::fma, .arithmetic = Format::fp32},
    bind<float>,
    bind<Fp16>,
    bind<Bf16>,
    bind<Fp8E4m3>,
    bind<Fp8E5m2>};

}  // namespace
}  // namespace ridgebench::cuda
