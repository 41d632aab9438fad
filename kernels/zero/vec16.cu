// Zeros by vectors of 16 bytes, one per thread (pointwise.cuh), so that a warp writes whole lines
// in every format. The limit is the memory bandwidth of stores.
#include "kernels/common/cuda/pointwise.cuh"
#include "kernels/common/training_formats.hpp"

namespace ridgebench::cuda::zero_vec16 {

template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads) zero_vec16(T* y, std::int64_t n) {
  map_packs<kThreads>(y, n, [] { return 0.0F; });
}

template <class T>
Launch bind(Queue& queue, const BlockThreads& block, const Shape& shape, T* y) {
  require_aligned(y);
  return launch_packs<kPackElements<T>>(
      queue, block, shape, [=]<int kThreads>(unsigned blocks, cudaStream_t stream, std::int64_t n) {
        zero_vec16<kThreads><<<blocks, kThreads, 0, stream>>>(y, n);
      });
}

template <class T>
Technique technique() {
  return {.operation = "zero",
          .name = "vec16",
          .engine = Engine::memory,
          .supports = supports_packs<T>};
}

const Registration vec16{[]<class T>() { return technique<T>(); }, TrainingTypes{},
                         []<class T>() { return planned_packs(bind<T>); }};

}  // namespace ridgebench::cuda::zero_vec16
