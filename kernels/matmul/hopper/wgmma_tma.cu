// Warp specialisation: one thread of a producer warpgroup asks TMA, the copy engine, for the tiles
// of four stages ahead, and two consumer warpgroups do nothing but multiply 64 x 256 each. Nobody
// computes addresses, registers go to those who hold sums, and barriers hand stages to and fro. The
// limit should be the tensor cores, but for the start and the end of every block.
#include "kernels/common/cuda/cluster_launch.cuh"
#include "kernels/common/cuda/fp8_accumulation.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/hopper/specialised.cuh"
#include "kernels/matmul/hopper/wgmma_tile.cuh"

namespace ridgebench::cuda {
namespace {

using Tile = BlockTile<128, 256>;
constexpr int kStages = 4;

struct Shared {
  std::byte stage[kStages][Tile::kStageBytes];
  TmaPipeline<kStages> barriers;
};

template <Layout kLayout, class A, class B>
__device__ void consume(TileAccumulators<1, Tile::kColumns>& sum, Shared& shared, int consumer,
                        int stages) {
  PipelineState<kStages> ring;
  const bool speaks = threadIdx.x % kWarp == 0;  // for its warp
  for (int i = 0; i < stages; ++i, ring.advance()) {
    const std::byte* const unit = shared.stage[ring.stage];
    shared.barriers.wait_full(ring);
    multiply_stage<kLayout, A, B>(sum, unit + consumer * kUnitBytes, unit + Tile::kOffsetB, i > 0);
    warpgroup_wait<0>();
    if (speaks) mbarrier_arrive(shared.barriers.empty[ring.stage]);
  }
}

template <Layout kLayout, class A, class B, class Out>
__global__ void __launch_bounds__(kWarpSpecialisedThreads, 1)
    matmul_wgmma_tma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                     Product<A, B, Out> product, bool aligned_c) {
  alignas(kUnitAlignment) extern __shared__ std::byte memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int row = static_cast<int>(blockIdx.y) * Tile::kRows;
  const int column = static_cast<int>(blockIdx.x) * Tile::kColumns;
  const int stages = static_cast<int>(ceil_div(product.k, kUnitK<A>));
  if (threadIdx.x == 0) shared.barriers.init(kConsumerWarps);
  __syncthreads();

  if (threadIdx.x < kWarpgroup) {
    warpgroup_reg_dealloc<24>();
    if (threadIdx.x == 0) {
      load_tile<kLayout, A, Tile>(shared.stage, shared.barriers, a, b, row, column, stages);
    }
  } else {
    warpgroup_reg_alloc<240>();
    const int consumer = warpgroup_index() - 1;
    TileAccumulators<1, Tile::kColumns> sum;
    consume<kLayout, A, B>(sum, shared, consumer, stages);
    store_tile(sum, product, row + consumer * kWgmmaRows, column, aligned_c);
  }
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  return with_wgmma_layout<A>(shape.layout(), [&](auto layout) -> Launch {
    const Product product(shape, a, b, c);
    constexpr auto kernel = matmul_wgmma_tma<layout, A, B, Out>;
    allow_shared(kernel, sizeof(Shared));
    const ClusterGrid grid{.blocks = tiles_for(product.m, product.n, Tile::kRows, Tile::kColumns),
                           .threads = kWarpSpecialisedThreads,
                           .shared_bytes = sizeof(Shared),
                           .stream = stream_of(queue)};
    return [=, map_a = unit_map(product.a), map_b = unit_map(product.b),
            aligned_c = can_store_vector(c, product.n, 2)] {
      launch(kernel, grid, map_a, map_b, product, aligned_c);
    };
  });
}

constexpr Technique technique(double approximation_error = 0) {
  return {.operation = "matmul",
          .name = "wgmma_tma",
          .engine = Engine::tensor,
          .approximation_error = approximation_error};
}

const Registration wgmma_tma{technique(), bind<Tf32, Tf32, Tf32>, bind<Fp16, Fp16, Fp16>,
                             bind<Bf16, Bf16, Bf16>};
const Registration wgmma_tma_fp8{technique(kFp8SumError), bind<Fp8E4m3, Fp8E4m3, Bf16>,
                                 bind<Fp8E5m2, Fp8E5m2, Bf16>, bind<Fp8E4m3, Fp8E5m2, Bf16>,
                                 bind<Fp8E5m2, Fp8E4m3, Bf16>};

}  // namespace
}  // namespace ridgebench::cuda
