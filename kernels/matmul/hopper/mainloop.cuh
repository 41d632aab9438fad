// What the Hopper products share: the pipeline between TMA and the warps that multiply, the loads
// of a stage and its products. A stage holds 128 bytes of k of a block's tile of A, then of B, in
// boxes of 64 rows (ptx/wgmma_layout.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "kernels/common/cuda/ptx/barrier.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/common/cuda/ptx/wgmma_layout.hpp"
#include "kernels/common/fp8_accumulation.hpp"
#include "kernels/common/registry.hpp"
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

// A block's tile of C, which its consumers split by rows.
template <int kM, int kN>
struct BlockTile {
  static constexpr int kBlockM = kM;
  static constexpr int kBlockN = kN;
  static constexpr int kBoxesA = kM / kBoxRows;
  static constexpr int kBoxesB = (kN + kBoxRows - 1) / kBoxRows;  // the last may be half used
  static constexpr int kSubTiles = kBoxesA / kConsumers;          // of 64 rows, of each consumer
  static constexpr int kOffsetB = kBoxesA * kBoxBytes;
  static constexpr int kStageBytes = (kBoxesA + kBoxesB) * kBoxBytes;
};

// The tensor map of an operand in boxes.
template <class T>
TensorMap operand_map(const MatrixOperand<T>& x) {
  const bool k_major = x.is_k_major();
  return tensor_map(x.data, k_major ? x.mn : x.k, k_major ? x.k : x.mn, kBoxRows,
                    kRowBytes / static_cast<int>(sizeof(T)), Swizzle::bytes_128);
}

// Starts to load kBoxes boxes of an operand, from row `mn` of A or column `mn` of B on, at k.
template <bool kKMajor, int kBoxes>
__device__ void load_operand(std::byte* boxes, const TensorMap& map, int mn, int k, Barrier& full) {
  for (int b = 0; b < kBoxes; ++b) {
    const int from = mn + b * kBoxRows;
    tma_load_2d(boxes + b * kBoxBytes, map, kKMajor ? k : from, kKMajor ? from : k, full);
  }
}

// The same for all `cluster` blocks together: block number `rank` loads every cluster-th box for
// all of them.
template <bool kKMajor, int kBoxes>
__device__ void load_operand_multicast(std::byte* boxes, const TensorMap& map, int mn, int k,
                                       Barrier& full, unsigned rank, unsigned cluster) {
  for (unsigned b = rank; b < kBoxes; b += cluster) {
    const int from = mn + static_cast<int>(b) * kBoxRows;
    tma_load_2d_multicast((1U << cluster) - 1, boxes + b * kBoxBytes, map, kKMajor ? k : from,
                          kKMajor ? from : k, full);
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
    load_operand<b_is_k_major(kLayout), Tile::kBoxesB>(boxes + Tile::kOffsetB, b, column, k, full);
  }
}

// Accumulators of a warpgroup for kSubTiles times 64 rows of kN columns.
template <int kSubTiles, int kN>
using Accumulators = WgmmaAccumulators<kN>[kSubTiles];

// Starts d = A B (+ d, if `accumulate`) over one stage and commits the wgmmas as a group: kSubTiles
// boxes of A from `a` on, 2 kCount columns of B from `b` on. The whole warpgroup must call it.
template <Layout kLayout, class A, class B, int kSubTiles, int kCount>
__device__ void multiply_stage(float (&d)[kSubTiles][kCount], const std::byte* a,
                               const std::byte* b, bool accumulate) {
  constexpr bool a_k_major = a_is_k_major(kLayout);
  constexpr bool b_k_major = b_is_k_major(kLayout);
  const std::uint64_t descriptor_a = matrix_descriptor(shared_address(a));
  const std::uint64_t descriptor_b = matrix_descriptor(shared_address(b));
#pragma unroll
  for (int i = 0; i < kSubTiles; ++i) warpgroup_fence_operand(d[i]);
  warpgroup_arrive();
#pragma unroll
  for (int step = 0; step < kWgmmasPerBlockK; ++step) {
#pragma unroll
    for (int i = 0; i < kSubTiles; ++i) {
      wgmma_mma_async<A, B, 2 * kCount, !a_k_major, !b_k_major>(
          d[i], descriptor_a + box_offset(i) + k_step_offset(a_k_major, step),
          descriptor_b + k_step_offset(b_k_major, step), accumulate || step > 0);
    }
  }
  warpgroup_commit_batch();
#pragma unroll
  for (int i = 0; i < kSubTiles; ++i) warpgroup_fence_operand(d[i]);
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
      store_accumulators<2>(product.c, product.n, r, column + accumulator_column(s), &d[i][s],
                            Plain{}, aligned);
    }
  }
}

// Calls `make` with the layout as a compile-time constant; wgmma reads every layout in 16-bit
// formats only.
template <class A, class Make>
Launch with_wgmma_layout(Layout layout, const Make& make) {
  if constexpr (sizeof(A) == 2) {
    return with_layout(layout, make);
  } else {
    return make(std::integral_constant<Layout, Layout::nt>());
  }
}

// The formats that wgmma multiplies.
using WgmmaProducts = decltype(Tf32Products{} + HalfProducts{} + Fp8Products{});

// Technique::supports of products with wgmma: pure arithmetic.
inline std::optional<std::string> supports_wgmma(const Machine& machine, const Shape& shape,
                                                 FormatPair formats) {
  if (machine.compute_capability != 90) return "runs on compute capability 9.0 only";
  if (info(formats.a).storage_bytes != 2 && shape.layout() != Layout::nt) {
    return "reads fp32, tf32 and fp8 K-major only: layout nt";
  }
  return std::nullopt;
}

// Why TMA cannot take a matrix with rows of `elements` elements.
inline std::optional<std::string> supports_tma_row(std::int64_t elements, Format format) {
  const std::int64_t bytes = elements * info(format).storage_bytes;
  if (bytes % kTmaRowAlignment == 0) return std::nullopt;
  return "TMA takes rows of multiples of 16 bytes, not of " + std::to_string(bytes);
}

// Technique::supports of products whose operands TMA loads.
inline std::optional<std::string> supports_wgmma_tma(const Machine& machine, const Shape& shape,
                                                     FormatPair formats) {
  if (auto reason = supports_wgmma(machine, shape, formats)) return reason;
  for (const char* const dimension : {"m", "n", "k"}) {
    if (shape[dimension] > kTmaMaxRows) return "TMA takes up to 2^31 - 1 rows";
  }
  const Layout layout = shape.layout();
  if (auto reason = supports_tma_row(shape[a_is_k_major(layout) ? "k" : "m"], formats.a)) {
    return reason;
  }
  return supports_tma_row(shape[b_is_k_major(layout) ? "k" : "n"], formats.b);
}

// A product that leaves its sums in the tensor cores.
template <class P>
Technique wgmma_technique(const std::string& name, const Supports& supports) {
  constexpr bool fp8 = kIsFp8<typename P::A>;
  return {.operation = "matmul",
          .name = name,
          .engine = Engine::tensor,
          .supports = supports,
          .accumulator_bits = fp8 ? kFp8SumBits : 0,
          .accumulation_error = fp8 ? kFp8SumError : 0};
}

}  // namespace ridgebench::cuda
