// GeLU on vectors of 16 bytes, one to a thread as in ReLU, with the tanh that the
// output's precision needs (kernels/common/cuda/gelu.cuh): the accurate one for fp32, a single MUFU
// for narrower formats, which are converted two at a time. Either fits beside the memory traffic
// (for fp8, two bytes per element, a second MUFU would not): the limit is memory bandwidth.
#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/cuda/vec16.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda {
namespace {

constexpr int kThreads = 512;

template <class T>
__device__ float gelu(float x) {
  return std::is_same_v<T, float> ? gelu_exp2(x) : gelu_tanh_approx(x);
}

template <class T>
__device__ Vec16<T> gelu(Vec16<T> vector) {
#pragma unroll
  for (int i = 0; i < kVectorElements<T> / 2; ++i) {
    const float2 x = to_float2(vector, i);
    vector.pair[i] = from_float2<T>({gelu<T>(x.x), gelu<T>(x.y)});
  }
  return vector;
}

template <class T>
__global__ void __launch_bounds__(kThreads) gelu_vec16(const T* x, T* y, std::int64_t n) {
  const std::int64_t vectors = n / kVectorElements<T>;
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (thread < vectors) store_vector(y, thread, gelu(load_vector(x, thread)));
  // The few elements behind the last vector, in the first block.
  const std::int64_t behind = vectors * kVectorElements<T> + thread;
  if (behind < n) y[behind] = from_float<T>(gelu<T>(to_float(x[behind])));
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  require_aligned(x);
  require_aligned(y);
  const std::int64_t n = shape["n"];
  const unsigned blocks = blocks_for(n, kThreads * kVectorElements<T>);
  return [=, stream = stream_of(queue)] { gelu_vec16<<<blocks, kThreads, 0, stream>>>(x, y, n); };
}

constexpr Technique technique(double error) {
  return {.operation = "gelu",
          .name = "vec16",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .approximation_error = error};
}

const Registration fp32{technique(kGeluExp2Error), bind<float>};
const Registration narrow{technique(kGeluTanhError), bind<Fp16>, bind<Bf16>, bind<Fp8E4m3>,
                          bind<Fp8E5m2>};

}  // namespace
}  // namespace ridgebench::cuda
