// The cache that all SMs share: the grid reads the same array again and again by loads of 16 bytes
// that bypass level 1, eight of them in flight per thread. Where the array ends a thread goes on at
// its start, so all threads stay busy at any size. The limit is the cache's bandwidth, or that of
// main memory where the array is larger than the cache.
#include "kernels/common/cuda/grid_sum.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::ceilings_cache {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;
constexpr int kLoads = 8;  // in flight per thread
constexpr int kWidth = kVectorElements<float>;

// A thread's position on its endless walk around `vectors` vectors, fewer than 2^31.
struct Walk {
  std::uint32_t at;
  std::uint32_t step;
  std::uint32_t vectors;

  __device__ float4 next(const float* x) {
    const float4 value = __ldcg(reinterpret_cast<const float4*>(x) + at);
    at += step;
    if (at >= vectors) at -= vectors;
    return value;
  }
};

// Every pass repeats the same rounding errors, so fp32 sums a few loads only and double sums those.
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    cache_l2_read(const float* x, std::int64_t n, std::int64_t passes, GridSum grid,
                  float* sum_of_all) {
  const std::int64_t vectors = n / kWidth;
  const std::int64_t threads = std::int64_t{gridDim.x} * kThreads;
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  double total = 0;
  if (thread < vectors * passes) {
    std::int64_t left = (vectors * passes - thread - 1) / threads + 1;
    Walk walk{static_cast<std::uint32_t>(thread % vectors),
              static_cast<std::uint32_t>(threads % vectors), static_cast<std::uint32_t>(vectors)};
#pragma unroll 1
    for (; left >= kLoads; left -= kLoads) {
      float4 value[kLoads];
#pragma unroll
      for (float4& v : value) v = walk.next(x);
      float sum = 0;
#pragma unroll
      for (const float4& v : value) sum += sum_of(v);
      total += sum;
    }
    for (; left > 0; --left) total += sum_of(walk.next(x));
  }
  const std::int64_t behind = vectors * kWidth + thread;  // the elements after the last vector
  if (behind < n) total += static_cast<double>(passes) * x[behind];
  const float sum = block_sum<kThreads>(static_cast<float>(total));
  add_to_grid_sum<kThreads>(sum, grid, sum_of_all);
}

Launch bind(Queue& queue, const Shape& shape, const float* x, float* sum) {
  require_aligned(x);
  const std::int64_t n = shape["n"];
  const auto blocks = static_cast<unsigned>(kBlocksPerSm * sm_count());
  return [=, passes = shape["passes"], memory = GridSumMemory(queue, blocks),
          stream = stream_of(queue)] {
    cache_l2_read<<<blocks, kThreads, 0, stream>>>(x, n, passes, memory.get(), sum);
  };
}

const Registration level_2{
    {.operation = "cache_l2_read",
     .name = "vec16",
     .engine = Engine::memory,
     .supports = [](const Machine&, const Shape& s, FormatPair) -> std::optional<std::string> {
       if (s["n"] >> 33U == 0) return std::nullopt;
       return "no cache holds 2^33 elements";
     }},
    bind};

}  // namespace ridgebench::cuda::ceilings_cache
