// The stages of ffma_tma.cu. TMA delivers rows of A and of B along k. The idle warps of
// the producer warpgroup transpose each stage, so that one load of 16 bytes gives a thread four
// rows or four columns of one k. Sums then need no change of register bank from one k to the next:
// an FFMA reads two banks through one port each, and the third register comes from the reuse cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/matmul/hopper/persistent.cuh"

namespace ridgebench::cuda::matmul_ffma_tma {

constexpr int kThreadM = 8;   // rows of C of a thread
constexpr int kThreadN = 16;  // and columns
constexpr int kWarpM = 64;    // of a warp, whose threads are 8 x 4
constexpr int kWarpN = 64;
constexpr int kVector = 4;       // neighbouring rows or columns in a load
constexpr int kTransposers = 3;  // warps
using ThreadAccumulators = float[kThreadM][kThreadN];

// A ring of transposed stages between the warps that transpose and those that multiply.
template <int kStages>
struct TransposedPipeline : TmaPipeline<kStages> {
  __device__ void init() {
    for (int i = 0; i < kStages; ++i) {
      mbarrier_init(this->full[i], kTransposers);
      mbarrier_init(this->empty[i], kConsumerWarps);
    }
    fence_mbarrier_init();
  }
  __device__ void producer_acquire(const PipelineState<kStages>& state) {
    mbarrier_wait_parity(this->empty[state.stage], state.phase ^ 1U);
  }
  // Called by whole warps.
  __device__ void producer_commit(int stage) {
    __syncwarp();
    if (threadIdx.x % kWarp == 0) mbarrier_arrive(this->full[stage]);
  }
};

// A tile of C of a block. Its warps form a grid of warp tiles; where the tile has fewer of those
// than there are warps, groups of warps divide the k of each stage, and add their sums at the end.
template <int kM, int kN>
struct FfmaTile : BlockTile<kM, kN> {
  using BlockTile<kM, kN>::kStageBytes;
  static constexpr TileShape kShape{kM, kN};
  static constexpr bool kSharesB = true;  // no cluster shares an operand
  static constexpr int kReleasingWarps = kTransposers;
  static constexpr int kStages = 2;
  static constexpr int kK = kRowBytes / static_cast<int>(sizeof(float));  // of a stage
  // Transposed, a line holds all rows of A and columns of B of one k. 16 bytes more between lines
  // let eight threads write a vector to eight neighbouring lines without bank conflicts.
  static constexpr int kLineBytes = (kM + kN) * static_cast<int>(sizeof(float)) + kVectorBytes;
  static constexpr int kWarpTiles = (kM / kWarpM) * (kN / kWarpN);
  static constexpr int kGroups = kConsumerWarps / kWarpTiles;
  static constexpr int kOwnRows = kThreadM / kGroups;  // of a thread, in the epilogue
  static constexpr int kGroupThreads = kWarpTiles * kWarp;
  static constexpr int kPartials = kGroups > 1 ? kGroups* kM* kN : kVector;

  struct Shared {
    std::byte stage[kStages][kStageBytes];
    std::byte transposed[kStages][kK * kLineBytes];
    alignas(kVectorBytes) float bias[kStages][kN];
    alignas(kVectorBytes) float partial[kPartials];  // the sums of the groups
    TmaPipeline<kStages> pipeline;
    TransposedPipeline<kStages> lines;
    Barrier groups;  // a phase completes when all consumer warps have arrived

    // Called by one thread before start_cluster, which initialises the pipeline.
    __device__ void init() {
      mbarrier_init(groups, kConsumerWarps);
      lines.init();
    }
  };
};

__device__ inline void load_vector(float* x, const void* from) {
  const float4 vector = *static_cast<const float4*>(from);
  x[0] = vector.x;
  x[1] = vector.y;
  x[2] = vector.z;
  x[3] = vector.w;
}

// The place of line k of a stage: the eight lines that eight threads write at once are neighbours.
constexpr int line_of(int k) { return k % kVector * 8 + k / kVector; }

// Transposes a stage. A thread turns 4 rows x 4 k, and eight neighbours take all 32 k of 4 rows. A
// vector changes places with its neighbours in pairs: an aligned group of four registers then has
// each element in the bank opposite to that of its sum, and sums can be stored in vectors as well.
template <class Tile>
__device__ void transpose_stage(std::byte* lines, const std::byte* stage, int warp) {
  constexpr int kRowsOfWarp = kWarp / 8 * kVector;
  constexpr int kStep = kTransposers * kRowsOfWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int k = lane % 8;
  const int first = warp * kRowsOfWarp + lane / 8 * kVector;
  const int swizzled = swizzle_128b(first, k * kVectorBytes);
  std::byte* to = lines + k * Tile::kLineBytes + first * 4;
#pragma unroll 1
  for (int row = first; row < Tile::kBlockM + Tile::kBlockN; row += kStep) {
    float x[kVector][kVector];
#pragma unroll
    for (int r = 0; r < kVector; ++r) load_vector(x[r], stage + (swizzled ^ swizzle_128b(r, 0)));
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      *reinterpret_cast<float4*>(to + line_of(i) * Tile::kLineBytes) =
          make_float4(x[1][i], x[0][i], x[3][i], x[2][i]);
    }
    stage += kStep * kRowBytes;
    to += kStep * 4;
  }
}

}  // namespace ridgebench::cuda::matmul_ffma_tma
