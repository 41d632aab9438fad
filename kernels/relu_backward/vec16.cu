// Gradient of ReLU on vectors of 16 bytes, one of each array per thread (pointwise.cuh). The limit
// is memory bandwidth.
#include "kernels/common/cuda/pointwise.cuh"
#include "kernels/common/training_formats.hpp"

namespace ridgebench::cuda::relu_backward_vec16 {

template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads)
    relu_backward_vec16(const T* x, const T* dy, T* dx, std::int64_t n) {
  map_packs<kThreads>(dx, n, [](float a, float gradient) { return a > 0 ? gradient : 0; }, x, dy);
}

template <class T>
Launch bind(Queue& queue, const BlockThreads& block, const Shape& shape, const T* x, const T* dy,
            T* dx) {
  require_all_aligned(x, dy, dx);
  return launch_packs<kPackElements<T>>(
      queue, block, shape, [=]<int kThreads>(unsigned blocks, cudaStream_t stream, std::int64_t n) {
        relu_backward_vec16<kThreads><<<blocks, kThreads, 0, stream>>>(x, dy, dx, n);
      });
}

template <class T>
Technique technique() {
  return {.operation = "relu_backward",
          .name = "vec16",
          .engine = Engine::memory,
          .arithmetic = Format::fp32,
          .supports = supports_packs<T>};
}

const Registration vec16{[]<class T>() { return technique<T>(); }, TrainingTypes{},
                         []<class T>() { return planned_packs(bind<T>); }};

}  // namespace ridgebench::cuda::relu_backward_vec16
