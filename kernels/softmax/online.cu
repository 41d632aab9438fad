// Softmax in two passes over each row: one for the maximum and the sum of exponentials together,
// and one that writes the quotients (kernels/common/cuda/rows.cuh). A block takes a row in vectors
// of 16 bytes and finds it in a cache the second time. One MUFU computes an exponential. The limit
// is memory bandwidth, that of a copy, as long as the rows of all resident blocks fit the caches.
#include "kernels/common/cuda/rows.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::softmax_online {

// vectors: as vectors_per_row.
template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads)
    softmax_online(const T* x, T* y, std::int64_t n, std::int64_t vectors) {
  const T* const row = x + std::int64_t{blockIdx.x} * n;
  T* const out = y + std::int64_t{blockIdx.x} * n;
  const MaxAndSum all = max_and_sum<kThreads>(row, n, vectors);
  const float scale = 1 / all.sum;
  for_each_part<kThreads, T>(n, vectors, [&](auto width, std::int64_t first) {
    float values[decltype(width)::value];
    load_values(row, first, values);
#pragma unroll
    for (float& value : values) value = exp_by_exp2(value - all.max) * scale;
    store_values(out, first, values);
  });
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  require_aligned(x);
  require_aligned(y);
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  return with_row_threads(n, [&]<int kThreads>() -> Launch {
    return [=, blocks = blocks_for(m, 1), vectors = vectors_per_row<T>(m, n),
            stream = stream_of(queue)] {
      softmax_online<kThreads><<<blocks, kThreads, 0, stream>>>(x, y, n, vectors);
    };
  });
}

const Registration online{{.operation = "softmax",
                           .name = "online",
                           .engine = Engine::fma,
                           .arithmetic = Format::fp32,
                           .supports = supports_rows,
                           .approximation_error = kExp2fError},
                          TrainingTypes{},
                          []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::softmax_online
