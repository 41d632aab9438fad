// Gradient of GeLU on vectors of 16 bytes, one of each array per thread (pointwise.cuh), with an
// exponential and a reciprocal of the special-function units. The limit is memory bandwidth.
#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/pointwise.cuh"
#include "kernels/common/gelu_slope.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench::cuda::gelu_backward_vec16 {

// An error of 2^-22 in p changes the derivative by at most half of it, and an error of 2^-23 in q
// by at most 2.04 times it, relative to the norm of the terms (maxima over x, computed in double).
constexpr double kError = 0x1p-23 * (1 + 2.04);

__device__ float gelu_backward(float x, float dy) {
  const float inside = gelu_slope_range(x);
  const float p = exp2_approx(gelu_slope_exponent(inside));
  return dy * gelu_slope(inside, p, reciprocal_approx(1.0F + p));
}

template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads)
    gelu_backward_vec16(const T* x, const T* dy, T* dx, std::int64_t n) {
  map_packs<kThreads>(dx, n, [](float a, float b) { return gelu_backward(a, b); }, x, dy);
}

template <class T>
Launch bind(Queue& queue, const BlockThreads& block, const Shape& shape, const T* x, const T* dy,
            T* dx) {
  require_all_aligned(x, dy, dx);
  return launch_packs<kPackElements<T>>(
      queue, block, shape, [=]<int kThreads>(unsigned blocks, cudaStream_t stream, std::int64_t n) {
        gelu_backward_vec16<kThreads><<<blocks, kThreads, 0, stream>>>(x, dy, dx, n);
      });
}

template <class T>
Technique technique() {
  return {.operation = "gelu_backward",
          .name = "vec16",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .supports = supports_packs<T>,
          .approximation_error = kError};
}

const Registration vec16{[]<class T>() { return technique<T>(); }, TrainingTypes{},
                         []<class T>() { return planned_packs(bind<T>); }};

}  // namespace ridgebench::cuda::gelu_backward_vec16
