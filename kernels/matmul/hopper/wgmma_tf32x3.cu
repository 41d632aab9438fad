// fp32 products on tensor cores in tf32: an element is split into a high part that tf32 holds and a
// low part, and a product becomes high x low + low x high + high x high. The hardware reads the
// high part by itself, because it ignores the last 13 bits. The low part is computed once per
// element by warps of the producer warpgroup, from shared memory to shared memory. Tensor cores
// truncate sums, which adds up over a long k, so each stage's sums are promoted to fp32 (Ootomo and
// Yokota, arXiv 2203.03341). The limit is a third of the tf32 rate, more than twice that of FFMA.
#include "kernels/matmul/hopper/mainloop.cuh"

namespace ridgebench::cuda::matmul_wgmma_tf32x3 {

using Tile = BlockTile<256, 128>;
constexpr int kSplitters = kWarpgroup - kWarp;  // threads; the first warp of their warpgroup loads
constexpr int kStages = 2;

struct Shared {
  std::byte whole[kStages][Tile::kStageBytes];
  std::byte low[kStages][Tile::kStageBytes];
  TmaPipeline<kStages> pipeline;  // of both
  Barrier split[kStages];         // a phase completes when the low parts are there
};

// x without its first 11 significant bits. Exact; infinity and NaN stay in the high part alone.
__device__ float low_part(float x) {
  const float high = __uint_as_float(__float_as_uint(x) & 0xffffe000U);
  return isfinite(x) ? x - high : 0.0F;
}

__device__ void split(Shared& shared, int thread, int stages) {
  PipelineState<kStages> state;
  for (int i = 0; i < stages; ++i, state.advance()) {
    shared.pipeline.consumer_wait(state);
    const auto* const whole = reinterpret_cast<const float4*>(shared.whole[state.stage]);
    auto* const low = reinterpret_cast<float4*>(shared.low[state.stage]);
#pragma unroll 4
    for (int v = thread; v < Tile::kStageBytes / kVectorBytes; v += kSplitters) {
      const float4 x = whole[v];
      low[v] = make_float4(low_part(x.x), low_part(x.y), low_part(x.z), low_part(x.w));
    }
    fence_proxy_async();
    mbarrier_arrive(shared.split[state.stage]);
  }
}

using TileAccumulators = Accumulators<Tile::kSubTiles, Tile::kBlockN>;

__device__ void consume(TileAccumulators& d, Shared& shared, int consumer, int stages) {
  clear(d);
  PipelineState<kStages> state;
  constexpr int b = Tile::kOffsetB;
  for (int i = 0; i < stages; ++i, state.advance()) {
    const std::byte* const whole = shared.whole[state.stage];
    const std::byte* const low = shared.low[state.stage];
    mbarrier_wait_parity(shared.split[state.stage], state.phase);
#pragma unroll
    for (int s = 0; s < Tile::kSubTiles; ++s) {
      const int a = (consumer * Tile::kSubTiles + s) * kBoxBytes;
      Accumulators<1, Tile::kBlockN> part;
      multiply_stage<Layout::nt, Tf32, Tf32>(part, low + a, whole + b, false);
      multiply_stage<Layout::nt, Tf32, Tf32>(part, whole + a, low + b, true);
      multiply_stage<Layout::nt, Tf32, Tf32>(part, whole + a, whole + b, true);
      warpgroup_wait<0>();
      promote(d[s], part[0]);
    }
    shared.pipeline.consumer_release(state.stage);
  }
}

__global__ void __launch_bounds__(kWarpSpecialisedThreads, 1)
    matmul_wgmma_tf32x3(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                        Product<Tf32x3, Tf32x3, Tf32x3> product, bool aligned_c) {
  alignas(kAtomBytes) extern __shared__ std::byte memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int row = static_cast<int>(blockIdx.y) * Tile::kBlockM;
  const int column = static_cast<int>(blockIdx.x) * Tile::kBlockN;
  const int stages = static_cast<int>(ceil_div(product.k, kBlockK<float>));
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (Barrier& split : shared.split) mbarrier_init(split, kSplitters);
    shared.pipeline.init(kConsumerWarps);
  }
  __syncthreads();

  if (thread < kWarpgroup) {
    warpgroup_reg_dealloc<40>();
    if (thread == 0) {
      load_tile<Layout::nt, Tf32x3, Tile>(shared.whole, shared.pipeline, a, b, row, column, stages);
    }
    if (thread >= kWarp) split(shared, thread - kWarp, stages);
  } else {
    warpgroup_reg_alloc<232>();
    const int consumer = warpgroup_index() - 1;
    TileAccumulators d;
    consume(d, shared, consumer, stages);
    store_tile(d, product, row + consumer * Tile::kSubTiles * kWgmmaM, column, aligned_c);
  }
}

Launch bind(Queue& queue, const Shape& shape, const Tf32x3* a, const Tf32x3* b, Tf32x3* c) {
  const Product product(shape, a, b, c);
  set_max_dynamic_shared_bytes(matmul_wgmma_tf32x3, sizeof(Shared));
  const ClusterGrid grid{.blocks = tiles_for(product.m, product.n, Tile::kBlockM, Tile::kBlockN),
                         .threads = kWarpSpecialisedThreads,
                         .shared_bytes = sizeof(Shared),
                         .stream = stream_of(queue)};
  return [=, map_a = operand_map(product.a), map_b = operand_map(product.b),
          aligned_c = can_store_vector(c, product.n, 2)] {
    launch(matmul_wgmma_tf32x3, grid, map_a, map_b, product, aligned_c);
  };
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape,
                                    FormatPair formats) {
  if (auto reason = supports_wgmma_tma(machine, shape, formats)) return reason;
  return tile_grid_limit(shape["m"], shape["n"], Tile::kBlockM, Tile::kBlockN);
}

// Both high parts hold 11 bits, so low x low, which is left out, is up to 2^-20 of a product. The
// hardware ignores two of the 13 bits of a low part: 2^-21 for each of the two.
const Registration wgmma_tf32x3{{.operation = "matmul",
                                 .name = "wgmma_tf32x3",
                                 .engine = Engine::tensor,
                                 .supports = supports,
                                 .approximation_error = 0x1p-20 + 2 * 0x1p-21},
                                Types<Tf32x3>{},
                                []<class T>() { return bind; }};

}  // namespace ridgebench::cuda::matmul_wgmma_tf32x3
