// Cross-entropy and its gradient in two passes over each row: one for the maximum and the sum of
// exponentials together, and one that writes the gradient (kernels/common/cuda/rows.cuh). A block
// takes a row in vectors of 16 bytes. One MUFU computes an exponential. The limit is memory
// bandwidth, that of a copy, if the second pass finds the row in level 2.
#include "kernels/common/cuda/rows.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::cross_entropy_online {

// vectors: as vectors_per_row; of_row: 1 over the number of rows.
template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads)
    cross_entropy_online(const T* logits, const std::int32_t* labels, float* loss, T* dlogits,
                         std::int64_t n, std::int64_t vectors, float of_row) {
  const T* const row = logits + std::int64_t{blockIdx.x} * n;
  T* const out = dlogits + std::int64_t{blockIdx.x} * n;
  const std::int64_t label = labels[blockIdx.x];
  const MaxAndSum all = max_and_sum<kThreads>(row, n, vectors);
  const float scale = of_row / all.sum;
  for_each_part<kThreads, T>(n, vectors, [&](auto width, std::int64_t first) {
    constexpr int count = decltype(width)::value;
    float values[count];
    load_values(row, first, values);
#pragma unroll
    for (int i = 0; i < count; ++i) {
      values[i] = exp_by_exp2(values[i] - all.max) * scale - (first + i == label ? of_row : 0.0F);
    }
    store_values(out, first, values);
  });
  if (threadIdx.x == 0) loss[blockIdx.x] = logf(all.sum) - (to_float(row[label]) - all.max);
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* logits, const std::int32_t* labels,
            float* loss, T* dlogits) {
  require_aligned(logits);
  require_aligned(dlogits);
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  const float of_row = 1 / static_cast<float>(m);
  return with_row_threads(n, [&]<int kThreads>() -> Launch {
    return [=, blocks = blocks_for(m, 1), vectors = vectors_per_row<T>(m, n),
            stream = stream_of(queue)] {
      cross_entropy_online<kThreads>
          <<<blocks, kThreads, 0, stream>>>(logits, labels, loss, dlogits, n, vectors, of_row);
    };
  });
}

const Registration online{{.operation = "cross_entropy",
                           .name = "online",
                           .engine = Engine::fma,
                           .arithmetic = Format::fp32,
                           .supports = supports_rows,
                           .approximation_error = kExp2fError},
                          TrainingTypes{},
                          []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::cross_entropy_online
