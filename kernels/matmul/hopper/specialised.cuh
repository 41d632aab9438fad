// A block whose first warpgroup loads, by one thread, and whose two others multiply: its tile of C
// and the stages of its operands, in units (units.cuh), those of A before those of B.
#pragma once

#include "kernels/common/cuda/ptx/warpgroup.cuh"
#include "kernels/matmul/hopper/stage_barriers.cuh"
#include "kernels/matmul/hopper/units.cuh"

namespace ridgebench::cuda {

inline constexpr int kConsumers = 2;  // warpgroups; they share the rows of a tile
inline constexpr int kConsumerWarps = kConsumers * kWarpgroup / kWarp;
inline constexpr int kWarpSpecialisedThreads = (1 + kConsumers) * kWarpgroup;

template <int kRowsOfTile, int kColumnsOfTile>
struct BlockTile {
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kColumns = kColumnsOfTile;
  static constexpr int kUnitsA = kRows / kUnitLines;
  static constexpr int kUnitsB = kColumns / kUnitLines;
  static constexpr int kDown = kUnitsA / kConsumers;  // units of a consumer
  static constexpr int kOffsetB = kUnitsA * kUnitBytes;
  static constexpr int kStageBytes = (kUnitsA + kUnitsB) * kUnitBytes;
};

// The loading thread: the first `count` stages of one tile.
template <Layout kLayout, class T, class Tile, int kStages>
__device__ void load_tile(std::byte (&stage)[kStages][Tile::kStageBytes],
                          TmaPipeline<kStages>& barriers, const TensorMap& a, const TensorMap& b,
                          int row, int column, int count) {
  PipelineState<kStages> ring;
  for (int i = 0; i < count; ++i, ring.advance()) {
    std::byte* const units = stage[ring.stage];
    const int k = i * kUnitK<T>;
    Barrier& full = barriers.claim(ring, Tile::kStageBytes);
    load_units<a_is_k_major(kLayout), Tile::kUnitsA>(units, a, row, k, full);
    load_units<b_is_k_major(kLayout), Tile::kUnitsB>(units + Tile::kOffsetB, b, column, k, full);
  }
}

}  // namespace ridgebench::cuda
