// ReLU on vectors of 16 bytes, the widest load there is, one per thread: the threads of a full
// device then keep enough loads in flight for its memory (block_threads.hpp). No format is
// converted (relu.cuh), so every format moves the same bytes per instruction. The limit is memory
// bandwidth, that of a copy.
#include "kernels/common/cuda/map_vectors.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/relu/relu.cuh"

namespace ridgebench::cuda::relu_vec16 {

template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads) relu_vec16(const T* x, T* y, std::int64_t n) {
  map_vectors<kThreads>(x, y, n, [](auto part) { return relu(part); });
}

template <class T>
Launch bind(Queue& queue, const BlockThreads& block, const Shape& shape, const T* x, T* y) {
  require_aligned(x);
  require_aligned(y);
  return with_threads(block, [&]<int kThreads>() -> Launch {
    const std::int64_t n = shape["n"];
    const unsigned blocks = blocks_of_vectors<T, kThreads>(n);
    return [=, stream = stream_of(queue)] {
      relu_vec16<kThreads><<<blocks, kThreads, 0, stream>>>(x, y, n);
    };
  });
}

const Registration vec16{{.operation = "relu",
                          .name = "vec16",
                          .engine = Engine::memory,
                          .supports = supports_vectors<kLeastThreads>},
                         ElementTypes{},
                         []<class T>() {
                           return planned(prepare_threads<kMostThreads>, bind<T>,
                                          block_threads<kMostThreads>);
                         }};

}  // namespace ridgebench::cuda::relu_vec16
