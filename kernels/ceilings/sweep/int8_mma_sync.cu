// Tensor cores in int8 by mma.sync, fed only from registers: a warp loads all fragments of one
// tile of 32 x 32 x 32 and multiplies them again and again into eight independent accumulators of
// 16 x 8. The limit is the rate at which the tensor cores accept mma.sync.
#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/ceilings/sweep/int8.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/mma_int8.cuh"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda::ceilings_int8_mma_sync {

constexpr int kWarps = 4;
constexpr int kM = static_cast<int>(kTensorTile.m);
constexpr int kN = static_cast<int>(kTensorTile.n);
constexpr int kK = static_cast<int>(kTensorTile.k);  // of one instruction
constexpr int kRows = kM / 16;
constexpr int kColumns = kN / 8;

using Sums = std::int32_t[kRows * kColumns][4];

__device__ void store(std::int32_t* y, int lane, const Sums& sum) {
#pragma unroll
  for (int t = 0; t < kRows * kColumns; ++t) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = t / kColumns * 16 + lane / 4 + 8 * (r / 2);
      y[row * kN + t % kColumns * 8 + 2 * (lane % 4) + r % 2] = sum[t][r];
    }
  }
}

__global__ void __launch_bounds__(kWarps* kWarp)
    int8_mma_sync(const Int8* a, const Int8* b, std::int32_t* y, std::int64_t tiles,
                  int iterations) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t tile = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  if (tile >= tiles) return;
  constexpr int row_words = kK / 4;
  const auto* const words_a = reinterpret_cast<const std::uint32_t*>(a + tile * (kM * kK));
  const auto* const words_b = reinterpret_cast<const std::uint32_t*>(b + tile * (kN * kK));
  std::uint32_t fragment_a[kRows][4];
  std::uint32_t fragment_b[kColumns][2];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int word = lane % 4 + 4 * (r / 2);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      fragment_a[i][r] = words_a[(i * 16 + lane / 4 + 8 * (r % 2)) * row_words + word];
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      fragment_b[j][r] = words_b[(j * 8 + lane / 4) * row_words + lane % 4 + 4 * r];
    }
  }
  Sums sum = {};
#pragma unroll 8
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int t = 0; t < kRows * kColumns; ++t) {
      mma_int8(sum[t], fragment_a[t / kColumns], fragment_b[t % kColumns]);
    }
  }
  store(y + tile * (kM * kN), lane, sum);
}

Launch bind(Queue& queue, const Shape& shape, const Int8* a, const Int8* b, std::int32_t* y) {
  require_aligned(a);
  require_aligned(b);
  const std::int64_t tiles = shape["tiles"];
  const unsigned blocks = blocks_for(tiles, kWarps);
  return [=, iterations = chain_length(shape["iterations"]), stream = stream_of(queue)] {
    int8_mma_sync<<<blocks, kWarps * kWarp, 0, stream>>>(a, b, y, tiles, iterations);
  };
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  if (machine.compute_capability < 80) return "mma.sync needs compute capability 8.0";
  if (shape["m"] != kM || shape["n"] != kN || shape["k"] != kK) {
    return "a tile has m = 32, n = 32 and k = 32";
  }
  if (const auto reason = chain_limit(shape["iterations"])) return reason;
  return grid_limit(shape["tiles"], kWarps);
}

const Registration mma_sync{{.operation = "tensor_int8_peak",
                             .name = "mma_sync",
                             .engine = Engine::tensor,
                             .accumulator = Format::int32,
                             .supports = supports,
                             .full_rate = mma_sync_is_full_rate},
                            bind};

}  // namespace ridgebench::cuda::ceilings_int8_mma_sync
