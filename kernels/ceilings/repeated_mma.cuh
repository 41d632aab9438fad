// One product of 32 x 32 x k, which a warp multiplies again and again by an instruction of the
// family of mma.sync: the core of the ceilings beside it. A warp loads all fragments of a tile into
// registers, the only source of the instructions.
#pragma once

#include <type_traits>

#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/ceilings/products.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda {

inline constexpr int kMmaWarps = 4;  // small blocks, so that one loads while others multiply
inline constexpr int kMmaThreads = kMmaWarps * kWarp;
inline constexpr int kMmaTile = 32;  // rows and columns
static_assert(kTensorTile.m == kMmaTile && kTensorTile.n == kMmaTile);
// Tensor cores truncate what they cannot hold, above all in fp8. After this number of products the
// kernel adds the accumulators to totals by ordinary, rounding additions.
inline constexpr int kProductsPerSum = 16;

// An instruction of kM x 8 on words along k: a lane holds kA words of A, kB of B and kD sums, in
// the layout of kernels/common/cuda/ptx/mma.cuh. A row of A thus has 4 kA / (kM / 8) words, and a
// column of B has 4 kB. An Instruction derives from it and adds `kSteps`, instructions along k of a
// tile, and `multiply_add`.
template <class WordType, class SumType, int kHeight = 16, int kWordsOfA = 4, int kWordsOfB = 2>
struct MmaShape {
  using Word = WordType;
  using Sum = SumType;
  static constexpr int kM = kHeight;
  static constexpr int kN = 8;
  static constexpr int kA = kWordsOfA;
  static constexpr int kB = kWordsOfB;
  static constexpr int kD = kM * kN / kWarp;
  static constexpr int kGroups = kM / 8;  // of rows
  static constexpr int kRowWords = 4 * kA / kGroups;
  static constexpr int kColumnWords = 4 * kB;
};

// All fragments of a tile.
template <class Mma>
struct Fragments {
  using Word = typename Mma::Word;
  static constexpr int kRows = kMmaTile / Mma::kM;
  static constexpr int kColumns = kMmaTile / Mma::kN;
  static constexpr int kAccumulators = kRows * kColumns;
  static constexpr int kWordsOfA = Mma::kSteps * Mma::kRowWords;  // of a row of the tile
  static constexpr int kWordsOfB = Mma::kSteps * Mma::kColumnWords;
  using Sums = typename Mma::Sum[kAccumulators][Mma::kD];

  Word a[Mma::kSteps][kRows][Mma::kA];
  Word b[Mma::kSteps][kColumns][Mma::kB];

  __device__ Fragments(const Word* tile_a, const Word* tile_b, int lane) {
    const int group = lane / 4;
#pragma unroll
    for (int step = 0; step < Mma::kSteps; ++step) {
      const int word_a = step * Mma::kRowWords + lane % 4;
      const int word_b = step * Mma::kColumnWords + lane % 4;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int r = 0; r < Mma::kA; ++r) {
          const int row = i * Mma::kM + group + 8 * (r % Mma::kGroups);
          a[step][i][r] = tile_a[row * kWordsOfA + word_a + 4 * (r / Mma::kGroups)];
        }
      }
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
#pragma unroll
        for (int r = 0; r < Mma::kB; ++r) {
          b[step][j][r] = tile_b[(j * Mma::kN + group) * kWordsOfB + word_b + 4 * r];
        }
      }
    }
  }

  // sum += `count` times the product.
  __device__ void multiply_add(Sums& sum, int count) const {
#pragma unroll 4
    for (int i = 0; i < count; ++i) {
#pragma unroll
      for (int step = 0; step < Mma::kSteps; ++step) {
#pragma unroll
        for (int t = 0; t < kAccumulators; ++t) {
          Mma::multiply_add(sum[t], a[step][t / kColumns], b[step][t % kColumns]);
        }
      }
    }
  }

  // The same by a sum that begins with 0.
  __device__ void add_products(Sums& total, int count) const {
    Sums sum = {};
    multiply_add(sum, count);
#pragma unroll
    for (int t = 0; t < kAccumulators; ++t) {
#pragma unroll
      for (int r = 0; r < Mma::kD; ++r) total[t][r] += sum[t][r];
    }
  }

  static __device__ void store(typename Mma::Sum* y, int lane, const Sums& total) {
#pragma unroll
    for (int t = 0; t < kAccumulators; ++t) {
#pragma unroll
      for (int r = 0; r < Mma::kD; ++r) {
        const int row = t / kColumns * Mma::kM + lane / 4 + 8 * (r / 2);
        y[row * kMmaTile + t % kColumns * Mma::kN + 2 * (lane % 4) + r % 2] = total[t][r];
      }
    }
  }
};

// The body of a kernel: each warp multiplies a tile. Sums in fp32 are interrupted.
template <class Mma, class T>
__device__ void multiply_tiles(const T* a, const T* b, typename Mma::Sum* y, std::int64_t tiles,
                               int iterations) {
  using Tile = Fragments<Mma>;
  using Word = typename Mma::Word;
  constexpr int elements = static_cast<int>(sizeof(Word) / sizeof(T));  // of a word
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t tile = std::int64_t{blockIdx.x} * kMmaWarps + threadIdx.x / kWarp;
  if (tile >= tiles) return;
  const T* const tile_a = a + tile * (kMmaTile * Tile::kWordsOfA * elements);
  const T* const tile_b = b + tile * (kMmaTile * Tile::kWordsOfB * elements);
  const Tile fragments(reinterpret_cast<const Word*>(tile_a), reinterpret_cast<const Word*>(tile_b),
                       lane);
  typename Tile::Sums total = {};
  if constexpr (std::is_same_v<typename Mma::Sum, float>) {
#pragma unroll 1
    for (int left = iterations; left > 0; left -= kProductsPerSum) {
      fragments.add_products(total, min(left, kProductsPerSum));
    }
  } else {
    fragments.multiply_add(total, iterations);
  }
  Tile::store(y + tile * (kMmaTile * kMmaTile), lane, total);
}

// Part of Technique::supports of such a kernel.
inline std::optional<std::string> mma_limit(const Shape& shape, TileSize tile) {
  if (auto reason = tile_limit(shape, tile)) return reason;
  if (auto reason = chain_limit(shape["iterations"])) return reason;
  return grid_limit(shape["tiles"], kMmaWarps);
}

// The launch of such a kernel.
template <class T, class Sum>
Launch launch_tiles(void (*kernel)(const T*, const T*, Sum*, std::int64_t, int), Queue& queue,
                    const Shape& shape, const T* a, const T* b, Sum* y) {
  require_aligned(a);
  require_aligned(b);
  const std::int64_t tiles = shape["tiles"];
  const unsigned blocks = blocks_for(tiles, kMmaWarps);
  return [=, iterations = chain_length(shape["iterations"]), stream = stream_of(queue)] {
    kernel<<<blocks, kMmaThreads, 0, stream>>>(a, b, y, tiles, iterations);
  };
}

}  // namespace ridgebench::cuda
