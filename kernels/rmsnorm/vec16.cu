// RMSNorm on vectors of 16 bytes, a block per row: the sum of squares, then the products, for which
// a block finds its row in a cache, and w, which all rows share, too. The limit is memory
// bandwidth, that of a copy, as long as the rows of all resident blocks fit the caches.
#include "kernels/common/cuda/rows.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::rmsnorm_vec16 {

// vectors: as vectors_per_row.
template <int kThreads, class T>
__global__ void __launch_bounds__(kThreads)
    rmsnorm_vec16(const T* x, const T* w, T* y, std::int64_t n, std::int64_t vectors, float eps) {
  const T* const row = x + std::int64_t{blockIdx.x} * n;
  T* const out = y + std::int64_t{blockIdx.x} * n;
  float sum = 0;
  for_each_part<kThreads, T>(n, vectors, [&](auto width, std::int64_t first) {
    float values[decltype(width)::value];
    load_values(row, first, values);
#pragma unroll
    for (const float value : values) sum = fmaf(value, value, sum);
  });
  const float mean = block_all<kThreads>(sum, Sum{}) / static_cast<float>(n);
  const float scale = 1 / sqrtf(mean + eps);
  for_each_part<kThreads, T>(n, vectors, [&](auto width, std::int64_t first) {
    constexpr int count = decltype(width)::value;
    float values[count];
    float weights[count];
    load_values(row, first, values);
    load_values(w, first, weights);
#pragma unroll
    for (int i = 0; i < count; ++i) values[i] = values[i] * scale * weights[i];
    store_values(out, first, values);
  });
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const T* w, T* y) {
  require_aligned(x);
  require_aligned(w);
  require_aligned(y);
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  const auto eps = static_cast<float>(shape.attribute("eps"));
  return with_row_threads(n, [&]<int kThreads>() -> Launch {
    return [=, blocks = blocks_for(m, 1), vectors = vectors_per_row<T>(m, n),
            stream = stream_of(queue)] {
      rmsnorm_vec16<kThreads><<<blocks, kThreads, 0, stream>>>(x, w, y, n, vectors, eps);
    };
  });
}

const Registration vec16{{.operation = "rmsnorm",
                          .name = "vec16",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .supports = supports_rows},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::rmsnorm_vec16
