// Loads of 16 bytes that bypass level 1, with a chosen number of warps in the one block of an SM,
// and of loads that a thread starts before it uses the first. A thread goes on at the start of the
// array where that ends. The limit is the latency of a load, and with enough of them in flight the
// bandwidth of the memory or of level 2.
#include "kernels/ceilings/sweep/parallelism.hpp"
#include "kernels/common/cuda/grid_sum.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda::ceilings_read_parallelism {

constexpr int kWidth = kVectorElements<float>;
// Every pass repeats the same rounding errors, so fp32 sums this number of loads only.
constexpr int kLoadsOfSum = 8;

template <int kPacks>
__device__ double sum_of_loads(const float* x, std::int64_t vectors, std::int64_t passes) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (thread >= vectors * passes) return 0;
  std::int64_t left = (vectors * passes - thread - 1) / threads + 1;
  auto at = static_cast<std::uint32_t>(thread % vectors);
  const auto step = static_cast<std::uint32_t>(threads % vectors);
  const auto next = [&] {
    const float4 value = __ldcg(reinterpret_cast<const float4*>(x) + at);
    at += step;
    if (at >= vectors) at -= static_cast<std::uint32_t>(vectors);
    return value;
  };
  double total = 0;
  float sum = 0;
  int loads = 0;
#pragma unroll 1
  for (; left >= kPacks; left -= kPacks) {
    float4 value[kPacks];
#pragma unroll
    for (float4& v : value) v = next();
#pragma unroll
    for (const float4& v : value) sum += sum_of(v);
    loads += kPacks;
    if (loads < kLoadsOfSum) continue;
    total += sum;
    sum = 0;
    loads = 0;
  }
#pragma unroll 1
  for (; left > 0; --left) sum += sum_of(next());
  return total + sum;
}

template <int kWarps, int kPacks>
__global__ void __launch_bounds__(kWarps* kWarp, 1)
    read_parallelism(const float* x, std::int64_t n, std::int64_t passes, GridSum grid,
                     float* sum_of_all) {
  constexpr int kThreads = kWarps * kWarp;
  const std::int64_t vectors = n / kWidth;
  double total = vectors > 0 ? sum_of_loads<kPacks>(x, vectors, passes) : 0;
  // The elements after the last vector.
  const std::int64_t behind = vectors * kWidth + std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (behind < n) total += static_cast<double>(passes) * x[behind];
  const float sum = block_sum<kThreads>(static_cast<float>(total));
  add_to_grid_sum<kThreads>(sum, grid, sum_of_all);
}

template <int kWarps, int kPacks>
Launch of_point(Queue& queue, const Shape& shape, const float* x, float* sum) {
  const auto blocks = static_cast<unsigned>(sm_count());
  return [=, n = shape["n"], passes = shape["passes"], memory = GridSumMemory(queue, blocks),
          stream = stream_of(queue)] {
    read_parallelism<kWarps, kPacks>
        <<<blocks, kWarps * kWarp, 0, stream>>>(x, n, passes, memory.get(), sum);
  };
}

template <int kWarps>
Launch of_warps(Queue& queue, const Shape& shape, const float* x, float* sum) {
  switch (shape["packs"]) {
    case 1:
      return of_point<kWarps, 1>(queue, shape, x, sum);
    case 2:
      return of_point<kWarps, 2>(queue, shape, x, sum);
    case 4:
      return of_point<kWarps, 4>(queue, shape, x, sum);
    default:
      return of_point<kWarps, 8>(queue, shape, x, sum);
  }
}

Launch bind(Queue& queue, const Shape& shape, const float* x, float* sum) {
  require_aligned(x);
  switch (shape["warps"]) {
    case 1:
      return of_warps<1>(queue, shape, x, sum);
    case 2:
      return of_warps<2>(queue, shape, x, sum);
    case 4:
      return of_warps<4>(queue, shape, x, sum);
    case 8:
      return of_warps<8>(queue, shape, x, sum);
    case 16:
      return of_warps<16>(queue, shape, x, sum);
    default:
      return of_warps<32>(queue, shape, x, sum);
  }
}

std::optional<std::string> supports(const Machine&, const Shape& shape, FormatPair) {
  if (auto reason = parallelism_limit(shape, "packs")) return reason;
  if (shape["n"] >> 33U == 0) return std::nullopt;
  return "n is 2^33 or more";
}

Technique technique(const std::string& operation) {
  return {.operation = operation, .name = "vec16", .engine = Engine::memory, .supports = supports};
}

const Registration dram{technique("dram_parallelism"), bind};
const Registration l2{technique("l2_parallelism"), bind};

}  // namespace ridgebench::cuda::ceilings_read_parallelism
