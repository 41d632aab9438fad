// Matrix-vector product, a warp per row or, where rows are many, per four rows, which share what it
// reads of x. The lanes read neighbouring vectors of 16 bytes, four in flight each, and shuffles
// add their sums: no shared memory, no barrier. A is read once, x from the caches. The limit is
// memory bandwidth, that of reading.
#include "kernels/common/cuda/dot.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::matvec_row_per_warp {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kBlocksPerSm = 4;  // leaves 64 registers to a thread
constexpr int kManyRows = 4;     // per warp

// vectors: as vectors_per_row.
template <int kRows, class T, class Out>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    matvec_row_per_warp(const T* a, const T* x, Out* y, std::int64_t m, std::int64_t n,
                        std::int64_t vectors) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t first = (std::int64_t{blockIdx.x} * kWarps + warp) * kRows;
  if (first >= m) return;

  const T* row[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    // Beyond the last row the last one again: its sum is not written twice.
    row[r] = a + (first + r < m ? first + r : m - 1) * n;
  }
  float sum[kRows] = {};
  add_dot_share(row, x, n, vectors, lane, kWarp, sum);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float total = warp_sum(sum[r]);
    if (lane == r && first + r < m) y[first + r] = from_float<Out>(total);
  }
}

// True if there are enough rows to keep 48 KiB in flight on each multiprocessor (see
// kVectorsInFlight) with several rows per warp.
bool many_rows(std::int64_t m) {
  constexpr int kWarpsPerSm = 48 * 1024 / (kVectorsInFlight * kVectorBytes * kWarp);
  return m >= std::int64_t{kManyRows} * kWarpsPerSm * sm_count();
}

template <class T, class Out>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* x, Out* y) {
  require_aligned(a);
  require_aligned(x);
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  const std::int64_t vectors = vectors_per_row<T>(m, n);
  const bool many = many_rows(m);
  const unsigned blocks = blocks_for(m, many ? kWarps * kManyRows : kWarps);
  return [=, stream = stream_of(queue)] {
    if (many) {
      matvec_row_per_warp<kManyRows><<<blocks, kThreads, 0, stream>>>(a, x, y, m, n, vectors);
    } else {
      matvec_row_per_warp<1><<<blocks, kThreads, 0, stream>>>(a, x, y, m, n, vectors);
    }
  };
}

const Registration row_per_warp{
    {.operation = "matvec",
     .name = "row_per_warp",
     .engine = Engine::fma,
     .arithmetic = Format::fp32,
     .supports = [](const Machine&, const Shape& s,
                    FormatPair) { return grid_limit(s["m"], kWarps * kManyRows); }},
    ElementTypes{},
    []<class T>() { return bind<T, typename ProductTypes<T>::Out>; }};

}  // namespace ridgebench::cuda::matvec_row_per_warp
