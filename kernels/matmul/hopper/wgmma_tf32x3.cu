// Products of fp32 numbers on tensor cores that know tf32: a number is split into what tf32 holds
// of it and the rest, and a product becomes three, high x high + high x low + low x high. The
// hardware reads the high part by itself, for it ignores the last 13 bits; the low one is computed
// once per number, by warps of the loading warpgroup, from shared memory to shared memory. Tensor
// cores cut off what a sum cannot hold, which adds up over a long k: the sums of each stage move to
// others, which are rounded (Ootomo and Yokota, arXiv 2203.03341). The limit is a third of the
// tensor rate in tf32: more than twice that of the FMA units.
#include "kernels/common/cuda/cluster_launch.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/hopper/specialised.cuh"
#include "kernels/matmul/hopper/wgmma_tile.cuh"

namespace ridgebench::cuda {
namespace {

using Tile = BlockTile<256, 128>;
constexpr int kSplitters = kWarpgroup - kWarp;  // threads; their warpgroup's first warp loads
constexpr int kStages = 2;

struct Shared {
  std::byte whole[kStages][Tile::kStageBytes];
  std::byte low[kStages][Tile::kStageBytes];
  TmaPipeline<kStages> barriers;  // of whole
  Barrier split[kStages];         // low is there too
};

// What is left of x without its first 11 bits. Exact; infinity and NaN stay in the high part.
__device__ float low_part(float x) {
  const float high = __uint_as_float(__float_as_uint(x) & 0xffffe000U);
  return isfinite(x) ? x - high : 0.0F;
}

__device__ void split(Shared& shared, int thread, int stages) {
  PipelineState<kStages> ring;
  for (int i = 0; i < stages; ++i, ring.advance()) {
    shared.barriers.wait_full(ring);
    const auto* const whole = reinterpret_cast<const float4*>(shared.whole[ring.stage]);
    auto* const low = reinterpret_cast<float4*>(shared.low[ring.stage]);
#pragma unroll 4
    for (int p = thread; p < Tile::kStageBytes / kVectorBytes; p += kSplitters) {
      const float4 x = whole[p];
      low[p] = make_float4(low_part(x.x), low_part(x.y), low_part(x.z), low_part(x.w));
    }
    fence_proxy_async();
    mbarrier_arrive(shared.split[ring.stage]);
  }
}

using Sums = TileAccumulators<Tile::kDown, Tile::kColumns>;

__device__ void consume(Sums& sum, Shared& shared, int consumer, int stages) {
  clear_sums(sum);
  PipelineState<kStages> ring;
  constexpr int b = Tile::kOffsetB;
  for (int i = 0; i < stages; ++i, ring.advance()) {
    const std::byte* const whole = shared.whole[ring.stage];
    const std::byte* const low = shared.low[ring.stage];
    mbarrier_wait_parity(shared.split[ring.stage], ring.parity);
#pragma unroll
    for (int d = 0; d < Tile::kDown; ++d) {
      const int a = (consumer * Tile::kDown + d) * kUnitBytes;
      TileAccumulators<1, Tile::kColumns> part;
      multiply_stage<Layout::nt, Tf32, Tf32>(part, low + a, whole + b, false);
      multiply_stage<Layout::nt, Tf32, Tf32>(part, whole + a, low + b, true);
      multiply_stage<Layout::nt, Tf32, Tf32>(part, whole + a, whole + b, true);
      warpgroup_wait<0>();
      add_part(sum[d], part[0]);
    }
    if (threadIdx.x % kWarp == 0) mbarrier_arrive(shared.barriers.empty[ring.stage]);
  }
}

__global__ void __launch_bounds__(kWarpSpecialisedThreads, 1)
    matmul_wgmma_tf32x3(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                        Product<Tf32x3, Tf32x3, Tf32x3> product, bool aligned_c) {
  alignas(kUnitAlignment) extern __shared__ std::byte memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int row = static_cast<int>(blockIdx.y) * Tile::kRows;
  const int column = static_cast<int>(blockIdx.x) * Tile::kColumns;
  const int stages = static_cast<int>(ceil_div(product.k, kUnitK<float>));
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (Barrier& split : shared.split) mbarrier_init(split, kSplitters);
    shared.barriers.init(kConsumerWarps);
  }
  __syncthreads();

  if (thread < kWarpgroup) {
    warpgroup_reg_dealloc<40>();
    if (thread == 0) {
      load_tile<Layout::nt, Tf32x3, Tile>(shared.whole, shared.barriers, a, b, row, column, stages);
    }
    if (thread >= kWarp) split(shared, thread - kWarp, stages);
  } else {
    warpgroup_reg_alloc<232>();
    const int consumer = warpgroup_index() - 1;
    Sums sum;
    consume(sum, shared, consumer, stages);
    store_tile(sum, product, row + consumer * Tile::kDown * kWgmmaRows, column, aligned_c);
  }
}

Launch bind(Queue& queue, const Shape& shape, const Tf32x3* a, const Tf32x3* b, Tf32x3* c) {
  require_hopper();
  if (shape.layout() != Layout::nt) throw Unsupported("wgmma reads tf32 along k only: layout nt");
  const Product product(shape, a, b, c);
  allow_shared(matmul_wgmma_tf32x3, sizeof(Shared));
  const ClusterGrid grid{.blocks = tiles_for(product.m, product.n, Tile::kRows, Tile::kColumns),
                         .threads = kWarpSpecialisedThreads,
                         .shared_bytes = sizeof(Shared),
                         .stream = stream_of(queue)};
  return [=, map_a = unit_map(product.a), map_b = unit_map(product.b),
          aligned_c = can_store_vector(c, product.n, 2)] {
    launch(matmul_wgmma_tf32x3, grid, map_a, map_b, product, aligned_c);
  };
}

// Both high parts hold 11 bits, so that low x low, which is left out, is up to 2^-20 of a product;
// of a low part, 13 bits, the hardware ignores two: 2^-21 for each of the two.
const Registration tf32x3{{.operation = "matmul",
                           .name = "wgmma_tf32x3",
                           .engine = Engine::tensor,
                           .approximation_error = 0x1p-20 + 2 * 0x1p-21},
                          bind};

}  // namespace
}  // namespace ridgebench::cuda
