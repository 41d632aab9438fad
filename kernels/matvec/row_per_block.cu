// Matrix-vector product, a block per row: where rows are few and long, a warp per row would leave
// most of the device idle. A block is as large as it takes to fill a multiprocessor, and a sum over
// it costs a barrier per row, which long rows hide. The limit is memory bandwidth, that of reading,
// from one row per multiprocessor on.
#include "kernels/common/cuda/dot.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::matvec_row_per_block {

constexpr int kLargeBlock = 1024;
constexpr int kSmallBlock = 256;
constexpr int kThreadsPerSm = 1024;  // leaves 64 registers to a thread

// vectors: as vectors_per_row.
template <int kThreads, class T, class Out>
__global__ void __launch_bounds__(kThreads, kThreadsPerSm / kThreads)
    matvec_row_per_block(const T* a, const T* x, Out* y, std::int64_t n, std::int64_t vectors) {
  const std::int64_t row = blockIdx.x;
  const float share = dot_share(a + row * n, x, n, vectors, threadIdx.x, kThreads);
  const float sum = block_sum<kThreads>(share);
  if (threadIdx.x == 0) y[row] = from_float<Out>(sum);
}

template <class T, class Out>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* x, Out* y) {
  require_aligned(a);
  require_aligned(x);
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  const std::int64_t vectors = vectors_per_row<T>(m, n);
  const unsigned blocks = blocks_for(m, 1);
  const bool few_rows = m < std::int64_t{kThreadsPerSm / kSmallBlock} * sm_count();
  return [=, stream = stream_of(queue)] {
    if (few_rows) {
      matvec_row_per_block<kLargeBlock><<<blocks, kLargeBlock, 0, stream>>>(a, x, y, n, vectors);
    } else {
      matvec_row_per_block<kSmallBlock><<<blocks, kSmallBlock, 0, stream>>>(a, x, y, n, vectors);
    }
  };
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
