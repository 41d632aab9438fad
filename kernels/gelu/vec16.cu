// GeLU on vectors of 16 bytes, one per thread as in relu/vec16.cu, with the form of tanh that the
// output's precision needs (kernels/common/cuda/gelu.cuh). Narrow formats are converted two
// elements at a time. In fp8, with two bytes per element, a second MUFU would take longer than the
// memory traffic; a single one does not. The limit is memory bandwidth.
#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/gelu_error.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::gelu_vec16 {

constexpr int kThreads = 512;

template <class T>
__device__ Vec16<T> gelu(Vec16<T> vector) {
#pragma unroll
  for (int i = 0; i < kVectorElements<T> / 2; ++i) {
    const float2 x = to_float2(vector, i);
    vector.pair[i] = from_float2<T>({gelu_approx<T>(x.x), gelu_approx<T>(x.y)});
  }
  return vector;
}

template <class T>
__global__ void __launch_bounds__(kThreads) gelu_vec16(const T* x, T* y, std::int64_t n) {
  const std::int64_t vectors = n / kVectorElements<T>;
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (thread < vectors) store_vector(y, thread, gelu(load_vector(x, thread)));
  // The elements after the last vector, in the first block.
  const std::int64_t behind = vectors * kVectorElements<T> + thread;
  if (behind < n) y[behind] = from_float<T>(gelu_approx<T>(to_float(x[behind])));
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  require_aligned(x);
  require_aligned(y);
  const std::int64_t n = shape["n"];
  const unsigned blocks = blocks_for(n, kThreads * kVectorElements<T>);
  return [=, stream = stream_of(queue)] { gelu_vec16<<<blocks, kThreads, 0, stream>>>(x, y, n); };
}

template <class T>
Technique technique() {
  return {.operation = "gelu",
          .name = "vec16",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .supports = supports_vectors<kThreads>,
          .approximation_error = kGeluError<T>};
}

const Registration vec16{[]<class T>() { return technique<T>(); }, ElementTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::gelu_vec16
