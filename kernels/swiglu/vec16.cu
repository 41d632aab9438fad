// SwiGLU on vectors of 16 bytes, one of each array per thread (pointwise.cuh), with an exponential
// and a reciprocal of the special-function units. The limit is memory bandwidth.
#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/pointwise.cuh"
#include "kernels/common/training_formats.hpp"

namespace ridgebench::cuda::swiglu_vec16 {

// An error of 2^-22 in p = e^-gate changes h by p / (1 + p)^2 of it times gate up, at most half the
// norm of the terms; an error of 2^-23 in the reciprocal changes h by as much of it, at most
// sqrt(2) times the norm.
constexpr double kError = 0x1p-23 * (1 + 1.4143);

// 0 if the exponential is infinite.
__device__ float swiglu(float gate, float up) {
  constexpr float kLog2E = 1.442695041F;
  return gate * reciprocal_approx(1.0F + exp2_approx(-kLog2E * gate)) * up;
}

template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads)
    swiglu_vec16(const T* gate, const T* up, T* h, std::int64_t n) {
  map_packs<kThreads>(h, n, [](float a, float b) { return swiglu(a, b); }, gate, up);
}

template <class T>
Launch bind(Queue& queue, const BlockThreads& block, const Shape& shape, const T* gate, const T* up,
            T* h) {
  require_all_aligned(gate, up, h);
  return launch_packs<kPackElements<T>>(
      queue, block, shape, [=]<int kThreads>(unsigned blocks, cudaStream_t stream, std::int64_t n) {
        swiglu_vec16<kThreads><<<blocks, kThreads, 0, stream>>>(gate, up, h, n);
      });
}

template <class T>
Technique technique() {
  return {.operation = "swiglu",
          .name = "vec16",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .supports = supports_packs<T>,
          .approximation_error = kError};
}

const Registration vec16{[]<class T>() { return technique<T>(); }, TrainingTypes{},
                         []<class T>() { return planned_packs(bind<T>); }};

}  // namespace ridgebench::cuda::swiglu_vec16
