// Tensor cores by mma.sp, fed only from registers: a warp loads all fragments of one tile of
// 32 x 32 x 64, whose A is sparse, and multiplies them again and again into eight accumulators of
// 16 x 8. The limit is the rate at which the tensor cores accept mma.sp, which does the work of two
// dense instructions in the time of one.
#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/ceilings/sweep/sparse.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/mma_sparse.cuh"

namespace ridgebench::cuda::ceilings_sparse_mma_sync {

constexpr int kWarps = 4;
// Products of one sum, as of tensor_mma_sync.cu: tensor cores truncate what they cannot hold.
constexpr int kProductsPerSum = 16;
constexpr int kM = static_cast<int>(kSparseTile.m);
constexpr int kN = static_cast<int>(kSparseTile.n);
constexpr int kK = static_cast<int>(kSparseTile.k);
constexpr int kRows = kM / 16;
constexpr int kColumns = kN / 8;

template <class T>
inline constexpr int kSteps = kK / MmaSparse<T>::kK;
template <class T>
inline constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));

// All fragments of a tile. A row of A has kK / 2 stored numbers.
template <class T>
struct Fragments {
  std::uint32_t a[kSteps<T>][kRows][4];
  std::uint32_t b[kSteps<T>][kColumns][4];

  __device__ Fragments(const T* tile_a, const T* tile_b, int lane) {
    const auto* const words_a = reinterpret_cast<const std::uint32_t*>(tile_a);
    const auto* const words_b = reinterpret_cast<const std::uint32_t*>(tile_b);
    constexpr int row_words = kK / kPerWord<T>;  // of B
#pragma unroll
    for (int step = 0; step < kSteps<T>; ++step) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int word_a = 8 * step + lane % 4 + 4 * (r / 2);
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          const int row = i * 16 + lane / 4 + 8 * (r % 2);
          a[step][i][r] = words_a[row * (row_words / 2) + word_a];
        }
        const int word_b = 16 * step + lane % 4 + 4 * r;
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          b[step][j][r] = words_b[(j * 8 + lane / 4) * row_words + word_b];
        }
      }
    }
  }

  // total += `count` times the product.
  __device__ void add_products(int count, float (&total)[kRows * kColumns][4]) const {
    float sum[kRows * kColumns][4] = {};
#pragma unroll 4
    for (int i = 0; i < count; ++i) {
#pragma unroll
      for (int step = 0; step < kSteps<T>; ++step) {
#pragma unroll
        for (int t = 0; t < kRows * kColumns; ++t) {
          MmaSparse<T>::multiply_add(sum[t], a[step][t / kColumns], b[step][t % kColumns]);
        }
      }
    }
#pragma unroll
    for (int t = 0; t < kRows * kColumns; ++t) {
#pragma unroll
      for (int r = 0; r < 4; ++r) total[t][r] += sum[t][r];
    }
  }
};

template <class T>
__global__ void __launch_bounds__(kWarps* kWarp)
    sparse_mma_sync(const T* a, const T* b, float* y, std::int64_t tiles, int iterations) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t tile = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  if (tile >= tiles) return;
  const Fragments<T> fragments(a + tile * (kM * kK / 2), b + tile * (kN * kK), lane);
  float total[kRows * kColumns][4] = {};
#pragma unroll 1
  for (int left = iterations; left > 0; left -= kProductsPerSum) {
    fragments.add_products(min(left, kProductsPerSum), total);
  }
  float* const to = y + tile * (kM * kN);
#pragma unroll
  for (int t = 0; t < kRows * kColumns; ++t) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = t / kColumns * 16 + lane / 4 + 8 * (r / 2);
      to[row * kN + t % kColumns * 8 + 2 * (lane % 4) + r % 2] = total[t][r];
    }
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* b, float* y) {
  require_aligned(a);
  require_aligned(b);
  const std::int64_t tiles = shape["tiles"];
  const unsigned blocks = blocks_for(tiles, kWarps);
  return [=, iterations = chain_length(shape["iterations"]), stream = stream_of(queue)] {
    sparse_mma_sync<<<blocks, kWarps * kWarp, 0, stream>>>(a, b, y, tiles, iterations);
  };
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  if (machine.compute_capability < 80) return "mma.sp needs compute capability 8.0";
  if (!kMmaServesSparse) return "mma.sp needs a build with CUDA 12.5";
  if (shape["m"] != kM || shape["n"] != kN || shape["k"] != kK) {
    return "a tile has m = 32, n = 32 and k = 64";
  }
  if (const auto reason = chain_limit(shape["iterations"])) return reason;
  return grid_limit(shape["tiles"], kWarps);
}

const Registration mma_sync{{.operation = "tensor_sparse_peak",
                             .name = "mma_sync",
                             .engine = Engine::tensor,
                             .supports = supports},
                            HalfTypes{},
                            []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::ceilings_sparse_mma_sync
