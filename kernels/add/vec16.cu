// Addition on vectors of 16 bytes, one of each array per thread (pointwise.cuh). The limit is
// memory bandwidth.
#include "kernels/common/cuda/pointwise.cuh"
#include "kernels/common/training_formats.hpp"

namespace ridgebench::cuda::add_vec16 {

template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads)
    add_vec16(const T* x, const T* y, T* z, std::int64_t n) {
  map_packs<kThreads>(z, n, [](float a, float b) { return a + b; }, x, y);
}

template <class T>
Launch bind(Queue& queue, const BlockThreads& block, const Shape& shape, const T* x, const T* y,
            T* z) {
  require_all_aligned(x, y, z);
  return launch_packs<kPackElements<T>>(
      queue, block, shape, [=]<int kThreads>(unsigned blocks, cudaStream_t stream, std::int64_t n) {
        add_vec16<kThreads><<<blocks, kThreads, 0, stream>>>(x, y, z, n);
      });
}

template <class T>
Technique technique() {
  return {.operation = "add",
          .name = "vec16",
          .engine = Engine::memory,
          .arithmetic = Format::fp32,
          .supports = supports_packs<T>};
}

const Registration vec16{[]<class T>() { return technique<T>(); }, TrainingTypes{},
                         []<class T>() { return planned_packs(bind<T>); }};

}  // namespace ridgebench::cuda::add_vec16
