// fp32 products on tensor cores in tf32, three for one (tf32x3.cuh), on a persistent grid. A goes
// through registers, so that shared memory needs a low part of B only and has room for three
// stages. It moves 112 bytes per clock at the rate of the tensor cores, of the 128 that it can.
// Tensor cores truncate sums, which adds up over a long k, so each stage's sums are promoted to
// fp32 (Ootomo and Yokota, arXiv 2203.03341). The limit is a third of the tf32 rate.
#include "kernels/matmul/hopper/tf32x3.cuh"

namespace ridgebench::cuda::matmul_wgmma_tf32x3 {

using TileAccumulators = Accumulators<Tile::kSubTiles, Tile::kBlockN>;

// A consumer adds while its tensor cores wait, so the other one should multiply meanwhile. Where
// `leads`, it is the first consumer in its first tile and lets the second start after its first
// box.
__device__ void multiply_tile(TileAccumulators& d, Tile::Shared& shared, int consumer,
                              PipelineState<Tile::kStages>& state, int stages, bool leads) {
  clear(d);
  for (int i = 0; i < stages; ++i, state.advance()) {
    const std::byte* const boxes = shared.stage[state.stage];
    shared.pipeline.consumer_wait(state);
    mbarrier_wait_parity(shared.split[state.stage], state.phase);
#pragma unroll
    for (int s = 0; s < Tile::kSubTiles; ++s) {
      Part part;
      SplitFragment fragment[2];
      multiply_box(part, fragment, boxes + (consumer * Tile::kSubTiles + s) * kBoxBytes,
                   boxes + Tile::kOffsetB, shared.low_b[state.stage]);
      warpgroup_wait<0>();
      if (leads && i == 0 && s == 0 && threadIdx.x % kWarp == 0) mbarrier_arrive(shared.lead);
      if (s == Tile::kSubTiles - 1) shared.pipeline.consumer_release(state.stage);
      promote(d[s], part);
    }
  }
}

using Fp32Product = Product<Tf32x3, Tf32x3, Tf32x3>;

// From one tile of this block to the next; the first is number ctaid_x(). BlockScheduler says the
// same, but its members would take registers from the sums.
__device__ int tile_step() { return static_cast<int>(gridDim.x); }
// First row and column of a consumer's part of a tile.
__device__ TileCoord origin(const TileScheduler& tiles, int tile, int consumer) {
  const TileCoord coord = tiles.at(tile);
  return {coord.m * Tile::kBlockM + consumer * Tile::kSubTiles * kWgmmaM, coord.n * Tile::kBlockN};
}

// True if all sums are finite: 0 x d is NaN if d is not.
__device__ bool all_finite(const TileAccumulators& d) {
  constexpr int count = Tile::kBlockN / 2;
  float zero = 0;
#pragma unroll
  for (int i = 0; i < Tile::kSubTiles * count; ++i) zero += 0 * d[i / count][i % count];
  return zero == 0;
}

// Infinite terms meet low parts that are NaN, and terms near the largest float may overflow. A
// warpgroup computes those of its elements of a tile that are not finite again in fp32.
__device__ void store_non_finite(const Fp32Product& product, std::int64_t row, int column) {
  const std::int64_t c = column + static_cast<int>(threadIdx.x) % kWarpgroup;
  static_assert(Tile::kBlockN == kWarpgroup);
  if (c >= product.n) return;
  const std::int64_t end = min(row + Tile::kSubTiles * kWgmmaM, product.m);
  for (std::int64_t r = row; r < end; ++r) {
    Tf32x3& out = product.c[r * product.n + c];
    if (isfinite(to_float(out))) continue;
    float sum = 0;
    for (std::int64_t k = 0; k < product.k; ++k) {
      sum = fmaf(to_float(product.a(r, k)), to_float(product.b(c, k)), sum);
    }
    out = from_float<Tf32x3>(sum);
  }
}

__global__ void __launch_bounds__(kWarpSpecialisedThreads, 1)
    matmul_wgmma_tf32x3(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                        Fp32Product product, TileScheduler tiles, int stages, bool aligned_c) {
  alignas(kAtomBytes) extern __shared__ std::byte memory[];
  auto& shared = *reinterpret_cast<Tile::Shared*>(memory);
  const BlockScheduler<Tile> scheduler(tiles, stages);
  if (threadIdx.x == 0) {
    for (Barrier& split : shared.split) mbarrier_init(split, kSplitters);
    mbarrier_init(shared.lead, kWarpgroup / kWarp);
    for (bool& non_finite : shared.non_finite) non_finite = false;
  }
  start_cluster(shared, scheduler, a, b);

  PipelineState<Tile::kStages> state;
  if (threadIdx.x < kWarpgroup) {
    warpgroup_reg_dealloc<40>();
    if (threadIdx.x == 0) produce<Layout::nt, Tf32x3>(shared, a, b, scheduler);
    if (threadIdx.x >= kWarp) {
      const int thread = static_cast<int>(threadIdx.x) - kWarp;
      for (int tile = ctaid_x(); tile < tiles.count(); tile += tile_step()) {
        split_b(shared, thread, state, stages);
      }
    }
  } else {
    warpgroup_reg_alloc<232>();
    griddepcontrol_wait();
    const int consumer = warpgroup_index() - 1;
    TileAccumulators d;
    if (consumer != 0) mbarrier_wait_parity(shared.lead, 0);
    for (int tile = ctaid_x(); tile < tiles.count(); tile += tile_step()) {
      multiply_tile(d, shared, consumer, state, stages, consumer == 0 && tile == ctaid_x());
      if (!all_finite(d)) shared.non_finite[consumer] = true;
      const auto [row, column] = origin(tiles, tile, consumer);
      store_tile(d, product, row, column, aligned_c);
    }
    named_barrier_sync(1 + consumer);  // the warpgroup has stored all its tiles
    if (!shared.non_finite[consumer]) return;
    for (int tile = ctaid_x(); tile < tiles.count(); tile += tile_step()) {
      const auto [row, column] = origin(tiles, tile, consumer);
      store_non_finite(product, row, column);
    }
  }
}

Launch bind(Queue& queue, const Shape& shape, const Tf32x3* a, const Tf32x3* b, Tf32x3* c) {
  const Product product(shape, a, b, c);
  const TileScheduler tiles = schedule_tiles(Tile::kShape, 1, product.m, product.n);
  const ClusterGrid grid = persistent_grid<Tile>(matmul_wgmma_tf32x3, queue, tiles, 1);
  return [=, map_a = operand_map(product.a), map_b = operand_map(product.b),
          stages = static_cast<int>(ceil_div(product.k, kBlockK<float>)),
          aligned_c = can_store_vector(c, product.n, 2)] {
    launch(matmul_wgmma_tf32x3, grid, map_a, map_b, product, tiles, stages, aligned_c);
  };
}

// Both high parts hold 11 bits, so low x low, which is left out, is up to 2^-20 of a product. The
// hardware ignores two of the 13 bits of a low part: 2^-21 for each of the two.
const Registration wgmma_tf32x3{{.operation = "matmul",
                                 .name = "wgmma_tf32x3",
                                 .engine = Engine::tensor,
                                 .supports = supports_wgmma_tma,
                                 .approximation_error = 0x1p-20 + 2 * 0x1p-21},
                                Types<Tf32x3>{},
                                []<class T>() { return bind; }};

}  // namespace ridgebench::cuda::matmul_wgmma_tf32x3
