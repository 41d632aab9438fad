// Shared memory at full rate: a block keeps 32 KiB of the array and reads them again and again, 16
// bytes per thread and load. The hardware serves the 8 threads of a quarter of a warp together, and
// they touch all 32 banks once. Eight loads at a time into separate sums hide the latency. The
// limit is the 128 bytes that the banks deliver per clock.
#include "kernels/ceilings/shared.hpp"
#include "kernels/common/cuda/grid_sum.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"

namespace ridgebench::cuda::ceilings_shared {

constexpr int kThreads = 256;
constexpr int kWidth = 4;  // floats in a load
constexpr int kVectors = static_cast<int>(kSharedElements) / kWidth;
constexpr int kLoads = kVectors / kThreads;  // per thread and pass

// The passes repeat the same rounding errors, so fp32 sums a few passes only and double sums those.
constexpr std::int64_t kPassesPerSum = 16;

__global__ void __launch_bounds__(kThreads)
    shared_read(const float* x, std::int64_t n, std::int64_t passes, GridSum grid,
                float* sum_of_all) {
  __shared__ float4 held[kVectors];
  const int thread = static_cast<int>(threadIdx.x);
  auto* const elements = reinterpret_cast<float*>(held);
  for (int i = thread; i < kSharedElements; i += kThreads) {
    const std::int64_t from = std::int64_t{blockIdx.x} * kSharedElements + i;
    elements[i] = from < n ? x[from] : 0;
  }
  __syncthreads();

  double total = 0;
  int at = thread;
  for (std::int64_t left = passes; left > 0; left -= kPassesPerSum) {
    const int count = static_cast<int>(left < kPassesPerSum ? left : kPassesPerSum);
    float sum[4] = {};
    for (int pass = 0; pass < count; ++pass) {
#pragma unroll
      for (int k = 0; k < kLoads; ++k) {
        const float4 value = held[at + k * kThreads];
        sum[0] += value.x;
        sum[1] += value.y;
        sum[2] += value.z;
        sum[3] += value.w;
      }
      // The next pass reads another warp's share; the compiler could keep the same one in
      // registers.
      at = (at + kWarp) % kThreads;
    }
    total += (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  const float sum = block_sum<kThreads>(static_cast<float>(total));
  add_to_grid_sum<kThreads>(sum, grid, sum_of_all);
}

Launch bind(Queue& queue, const Shape& shape, const float* x, float* sum) {
  const std::int64_t n = shape["n"];
  const unsigned blocks = blocks_for(n, kSharedElements);
  return [=, passes = shape["passes"], memory = GridSumMemory(queue, blocks),
          stream = stream_of(queue)] {
    shared_read<<<blocks, kThreads, 0, stream>>>(x, n, passes, memory.get(), sum);
  };
}

const Registration vec16{{.operation = "shared_read",
                          .name = "vec16",
                          .engine = Engine::memory,
                          .supports = supports_elements<kSharedElements>},
                         bind};

}  // namespace ridgebench::cuda::ceilings_shared
