// Shared by the Hopper products: the pipeline between TMA and the warps that multiply, the loads
// of a stage and its products. A stage holds 128 bytes of k of a block's tile of A, then of B, in
// boxes (ptx/wgmma_layout.hpp).
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/common/cuda/ptx/barrier.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/common/cuda/ptx/wgmma_layout.hpp"
#include "kernels/matmul/hopper/wgmma_supports.cuh"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda {

// Position in a ring of stages (CUTLASS: PipelineState). A consumer waits for `phase` of the full
// barrier. The producer waits for the opposite parity of the empty barrier, so that its first trip
// round the ring does not wait.
template <int kStages>
struct PipelineState {
  int stage = 0;
  unsigned phase = 0;

  constexpr void advance() {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1U;
    }
  }
  // Skips `count` stages.
  constexpr void advance(int count) {
    stage += count;
    phase ^= static_cast<unsigned>(stage / kStages) % 2U;
    stage %= kStages;
  }
};

// The barriers of a ring of stages (CUTLASS: PipelineTmaAsync). One thread loads; warps consume.
template <int kStages>
struct TmaPipeline {
  Barrier full[kStages];   // a phase completes when all bytes of the stage have arrived
  Barrier empty[kStages];  // a phase completes when all consumer warps have released the stage

  // Called by one thread before the block or the cluster synchronises.
  __device__ void init(int consumer_warps) {
    for (int i = 0; i < kStages; ++i) {
      mbarrier_init(full[i], 1);
      mbarrier_init(empty[i], consumer_warps);
    }
    fence_mbarrier_init();
  }

  // Waits until the stage is empty. Returns the barrier for loads of `bytes` in all.
  __device__ Barrier& producer_acquire(const PipelineState<kStages>& state, int bytes) {
    mbarrier_wait_parity(empty[state.stage], state.phase ^ 1U);
    mbarrier_arrive_expect_tx(full[state.stage], bytes);
    return full[state.stage];
  }

  // Waits until all stages have been released. The producer of a block in a cluster calls it last:
  // a block must not exit while another may arrive at its barriers.
  __device__ void producer_tail(PipelineState<kStages> state) {
    for (int i = 0; i < kStages; ++i, state.advance()) {
      mbarrier_wait_parity(empty[state.stage], state.phase ^ 1U);
    }
  }

  __device__ void consumer_wait(const PipelineState<kStages>& state) {
    mbarrier_wait_parity(full[state.stage], state.phase);
  }

  // Called by whole warps: one lane arrives for its warp.
  __device__ void consumer_release(int stage) {
    if (threadIdx.x % kWarp == 0) mbarrier_arrive(empty[stage]);
  }
  // The same in all `cluster` blocks that load a part of the stage: one lane arrives at each.
  __device__ void consumer_release(int stage, unsigned cluster) {
    const unsigned lane = threadIdx.x % kWarp;
    if (lane < cluster) mbarrier_arrive_cluster(empty[stage], lane);
  }
};

// Warp specialisation: the first warpgroup of a block loads, two others multiply.
inline constexpr int kConsumers = 2;
inline constexpr int kConsumerWarps = kConsumers * kWarpgroup / kWarp;
inline constexpr int kWarpSpecialisedThreads = (1 + kConsumers) * kWarpgroup;

// A block's tile of C, which its consumers split by rows. Of a K-major B a box holds kColumns
// columns, so that a tile loads none that it does not multiply.
template <int kM, int kN, int kColumns = kBoxRows>
struct BlockTile {
  static constexpr int kBlockM = kM;
  static constexpr int kBlockN = kN;
  static constexpr int kBoxesA = kM / kBoxRows;
  static constexpr int kSubTiles = kBoxesA / kConsumers;  // of 64 rows, of each consumer
  static constexpr int kOffsetB = kBoxesA * kBoxBytes;
  static constexpr int kStageBytes = kOffsetB + kN * kRowBytes;
  static constexpr int kBoxColumns = kColumns;
  static_assert(kN % kColumns == 0 && kColumns * kRowBytes % kAtomBytes == 0);
};

// Columns of B in a box of a tile: an MN-major box has 64.
template <class Tile, Layout kLayout>
inline constexpr int kColumnsOfBox = b_is_k_major(kLayout) ? Tile::kBoxColumns : kBoxRows;

// The tensor map of an operand in boxes, which K-major have `rows` rows of A or columns of B.
template <class T>
TensorMap operand_map(const MatrixOperand<T>& x, int rows = kBoxRows) {
  const bool k_major = x.is_k_major();
  return tensor_map(x.data, k_major ? x.mn : x.k, k_major ? x.k : x.mn, k_major ? rows : kBoxRows,
                    kRowBytes / static_cast<int>(sizeof(T)), Swizzle::bytes_128);
}

// Starts to load kBoxes boxes of an operand, from row `mn` of A or column `mn` of B on, at k. A box
// holds kRows of these rows or columns.
template <bool kKMajor, int kBoxes, int kRows = kBoxRows>
__device__ void load_operand(std::byte* boxes, const TensorMap& map, int mn, int k, Barrier& full) {
  for (int b = 0; b < kBoxes; ++b) {
    const int from = mn + b * kRows;
    tma_load_2d(boxes + b * kRows * kRowBytes, map, kKMajor ? k : from, kKMajor ? from : k, full);
  }
}

// The same for all `cluster` blocks together: block number `rank` loads every cluster-th box for
// all of them.
template <bool kKMajor, int kBoxes, int kRows = kBoxRows>
__device__ void load_operand_multicast(std::byte* boxes, const TensorMap& map, int mn, int k,
                                       Barrier& full, unsigned rank, unsigned cluster) {
  for (unsigned b = rank; b < kBoxes; b += cluster) {
    const int from = mn + static_cast<int>(b) * kRows;
    tma_load_2d_multicast((1U << cluster) - 1, boxes + b * kRows * kRowBytes, map,
                          kKMajor ? k : from, kKMajor ? from : k, full);
  }
}

// The producer thread of a block with one tile: loads all its `count` stages.
template <Layout kLayout, class T, class Tile, int kStages>
__device__ void load_tile(std::byte (&stage)[kStages][Tile::kStageBytes],
                          TmaPipeline<kStages>& pipeline, const TensorMap& a, const TensorMap& b,
                          int row, int column, int count) {
  PipelineState<kStages> state;
  for (int i = 0; i < count; ++i, state.advance()) {
    std::byte* const boxes = stage[state.stage];
    const int k = i * kBlockK<T>;
    Barrier& full = pipeline.producer_acquire(state, Tile::kStageBytes);
    load_operand<a_is_k_major(kLayout), Tile::kBoxesA>(boxes, a, row, k, full);
    constexpr int columns = kColumnsOfBox<Tile, kLayout>;
    load_operand<b_is_k_major(kLayout), Tile::kBlockN / columns, columns>(boxes + Tile::kOffsetB, b,
                                                                          column, k, full);
  }
}

// Accumulators of a warpgroup for kSubTiles times 64 rows of kN columns.
template <int kSubTiles, int kN>
using Accumulators = WgmmaAccumulators<kN>[kSubTiles];

// A value of 8 bytes that is the same for a whole warp. The shuffle shows the compiler so, and
// hides where the value comes from: the compiler keeps it in a uniform register, and does not
// compute it anew in every stage of a loop. A shared object's address is then for barriers and
// wgmma only, as plain loads and stores through it would be generic ones.
template <class T>
__device__ T warp_uniform(T value) {
  return std::bit_cast<T>(__shfl_sync(0xffffffffU, std::bit_cast<unsigned long long>(value), 0));
}

// The descriptor of what lies further on by an offset in the descriptor's unit. The low word holds
// the address, and a sum of 32 bits spares the compiler a carry.
__device__ constexpr std::uint64_t further(std::uint64_t descriptor, std::uint64_t offset) {
  const std::uint64_t low = 0xffffffffU;
  return (descriptor & ~low) | ((descriptor + offset) & low);
}

// Starts d = A B (+ d, if `accumulate`) over one stage and commits the wgmmas as a group: kSubTiles
// boxes of A, 2 kCount columns of B, given by descriptors of the first box of each. The whole
// warpgroup must call it.
template <Layout kLayout, class A, class B, int kSubTiles, int kCount>
__device__ void multiply_stage(float (&d)[kSubTiles][kCount], std::uint64_t a, std::uint64_t b,
                               bool accumulate) {
  constexpr bool a_k_major = a_is_k_major(kLayout);
  constexpr bool b_k_major = b_is_k_major(kLayout);
#pragma unroll
  for (int i = 0; i < kSubTiles; ++i) warpgroup_fence_operand(d[i]);
  warpgroup_arrive();
#pragma unroll
  for (int step = 0; step < kWgmmasPerBlockK; ++step) {
#pragma unroll
    for (int i = 0; i < kSubTiles; ++i) {
      wgmma_mma_async<A, B, 2 * kCount, !a_k_major, !b_k_major>(
          d[i], further(a, box_offset(i) + k_step_offset(a_k_major, step)),
          further(b, k_step_offset(b_k_major, step)), accumulate || step > 0);
    }
  }
  warpgroup_commit_batch();
#pragma unroll
  for (int i = 0; i < kSubTiles; ++i) warpgroup_fence_operand(d[i]);
}

// The same of boxes that begin at `a` and `b`.
template <Layout kLayout, class A, class B, int kSubTiles, int kCount>
__device__ void multiply_stage(float (&d)[kSubTiles][kCount], const std::byte* a,
                               const std::byte* b, bool accumulate) {
  multiply_stage<kLayout, A, B>(d, matrix_descriptor(shared_address(a)),
                                matrix_descriptor(shared_address(b)), accumulate);
}

template <int kSubTiles, int kCount>
__device__ void clear(float (&d)[kSubTiles][kCount]) {
#pragma unroll
  for (int i = 0; i < kSubTiles * kCount; ++i) d[i / kCount][i % kCount] = 0;
}

// d += part in fp32, which rounds where the tensor cores truncate; its wgmmas have completed.
template <int kCount>
__device__ void promote(float (&d)[kCount], float (&part)[kCount]) {
  warpgroup_fence_operand(part);
#pragma unroll
  for (int i = 0; i < kCount; ++i) d[i] += part[i];
}

// Row and column of accumulator i of the calling thread in its warpgroup's product.
__device__ inline int accumulator_row(int i) {
  return accumulator_row(static_cast<int>(threadIdx.x) % kWarpgroup, i);
}
__device__ inline int accumulator_column(int i) {
  return accumulator_column(static_cast<int>(threadIdx.x) % kWarpgroup, i);
}

// Rounds a warpgroup's accumulators and stores them from registers, from C[row, column] on. Four
// neighbouring threads fill a sector of 32 bytes in fp32, half of one in 16-bit formats.
template <int kSubTiles, int kCount, class A, class B, class Out>
__device__ void store_tile(const float (&d)[kSubTiles][kCount], const Product<A, B, Out>& product,
                           std::int64_t row, std::int64_t column, bool aligned) {
#pragma unroll
  for (int i = 0; i < kSubTiles; ++i) {
#pragma unroll
    for (int s = 0; s < kCount; s += 2) {
      const std::int64_t r = row + i * kWgmmaM + accumulator_row(s);
      if (r >= product.m) continue;
      store_results<2>(product.c, product.n, r, column + accumulator_column(s), &d[i][s], aligned);
    }
  }
}

}  // namespace ridgebench::cuda
