// Matrix-vector product, a block per row: where rows are few and long, a warp per row would leave
// most of the device idle. A block is as large as it takes to fill a multiprocessor, and a sum over
// it costs a barrier per row, which long rows hide. In fp8, where rows are many, a block takes
// four, which share the conversion of x: for each row alone it takes about as long as an H200 reads
// the row. The limit is memory bandwidth, that of reading, from one row per multiprocessor on.
#include "kernels/common/cuda/dot.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::matvec_row_per_block {

constexpr int kLargeBlock = 1024;
constexpr int kSmallBlock = 256;
constexpr int kThreadsPerSm = 1024;  // leaves 64 registers to a thread
template <class T>
constexpr int kManyRows = kIsFp8<T> ? 4 : 1;  // of a small block

// vectors: as vectors_per_row.
template <int kThreads, int kRows, class T, class Out>
__global__ void __launch_bounds__(kThreads, kThreadsPerSm / kThreads)
    matvec_row_per_block(const T* a, const T* x, Out* y, std::int64_t m, std::int64_t n,
                         std::int64_t vectors) {
  const std::int64_t first = std::int64_t{blockIdx.x} * kRows;
  const T* row[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    // Beyond the last row the last one again: its sum is not written twice.
    row[r] = a + (first + r < m ? first + r : m - 1) * n;
  }
  float share[kRows] = {};
  add_dot_share(row, x, n, vectors, threadIdx.x, kThreads, share);
  const float sum = block_sums<kThreads>(share);
  if (threadIdx.x < kRows && first + threadIdx.x < m) {
    y[first + threadIdx.x] = from_float<Out>(sum);
  }
}

template <class T, class Out>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* x, Out* y) {
  require_aligned(a);
  require_aligned(x);
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  const std::int64_t vectors = vectors_per_row<T>(m, n);
  const auto launch = [&]<int kThreads, int kRows>() -> Launch {
    return [=, blocks = blocks_for(m, kRows), stream = stream_of(queue)] {
      matvec_row_per_block<kThreads, kRows>
          <<<blocks, kThreads, 0, stream>>>(a, x, y, m, n, vectors);
    };
  };
  // Small blocks that the device holds at once.
  const std::int64_t resident = std::int64_t{kThreadsPerSm / kSmallBlock} * sm_count();
  if (m < resident) return launch.template operator()<kLargeBlock, 1>();
  if (m < resident * kManyRows<T>) return launch.template operator()<kSmallBlock, 1>();
  return launch.template operator()<kSmallBlock, kManyRows<T>>();
}

const Registration row_per_block{
    {.operation = "matvec",
     .name = "row_per_block",
     .engine = Engine::fma,
     .arithmetic = Format::fp32,
     .supports = [](const Machine&, const Shape& s, FormatPair) { return grid_limit(s["m"], 1); }},
    ElementTypes{},
    []<class T>() { return bind<T, typename ProductTypes<T>::Out>; }};

}  // namespace ridgebench::cuda::matvec_row_per_block
