// Few rows, as in decoding with a small batch: nearly all bytes are B's, and what matters is that
// enough of them are on their way on every SM. The product is taken transposed: 64 columns of C are
// the 64 rows of wgmma, up to 64 rows of C its n. Where columns give too few blocks, a cluster
// splits k: each block sums up a part, and all add the parts of their share of C out of each
// other's shared memory, in a fixed order. The limit is the bandwidth at which B is read.
#include "kernels/common/cuda/cluster_launch.cuh"
#include "kernels/common/cuda/fp8_accumulation.cuh"
#include "kernels/common/cuda/ptx/cluster_memory.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/hopper/split.hpp"
#include "kernels/matmul/hopper/stage_barriers.cuh"
#include "kernels/matmul/hopper/units.cuh"
#include "kernels/matmul/hopper/wgmma_tile.cuh"

namespace ridgebench::cuda {
namespace {

constexpr int kMostRows = kUnitLines;         // of C
constexpr int kColumns = kUnitLines;          // of C per cluster
constexpr int kThreads = kWarpgroup + kWarp;  // the last warp loads
constexpr int kStages = 6;                    // two blocks of an SM have 96 KiB of B in flight
constexpr int kStageBytes = 2 * kUnitBytes;   // a unit of B, then one of A
constexpr int kMostSplit = 8;                 // blocks of a portable cluster
constexpr int kPitch = kColumns + 8;          // of sums in shared memory, in numbers

struct Shared {
  std::byte stage[kStages][kStageBytes];  // afterwards the block's sums
  TmaPipeline<kStages> barriers;
};
static_assert(sizeof(Shared::stage) >= kMostRows * kPitch * sizeof(float));

template <class T>
__device__ void produce(Shared& shared, const TensorMap& a, const TensorMap& b, int column,
                        StageRange part) {
  PipelineState<kStages> ring;
  for (int i = part.first; i < part.first + part.count; ++i, ring.advance()) {
    std::byte* const units = shared.stage[ring.stage];
    Barrier& full = shared.barriers.claim(ring, kStageBytes);
    load_units<true, 1>(units, b, column, i * kUnitK<T>, full);
    load_units<true, 1>(units + kUnitBytes, a, 0, i * kUnitK<T>, full);
  }
}

template <class A, class B, int kRows>
__device__ void consume(TileAccumulators<1, kRows>& sum, Shared& shared, int stages) {
  PipelineState<kStages> ring;
  for (int i = 0; i < stages; ++i, ring.advance()) {
    const std::byte* const units = shared.stage[ring.stage];
    shared.barriers.wait_full(ring);
    multiply_stage<Layout::nt, B, A>(sum, units, units + kUnitBytes, i > 0);
    warpgroup_wait<0>();
    if (threadIdx.x % kWarp == 0) mbarrier_arrive(shared.barriers.empty[ring.stage]);
  }
}

// Adds the parts of all blocks of the cluster for this block's share of the columns, and stores.
template <class Out>
__device__ void store_share(const float* part, Out* c, int m, std::int64_t n, std::int64_t column) {
  const unsigned blocks = cluster_nctarank();
  const int share = kColumns / static_cast<int>(blocks);
  const int first = static_cast<int>(cluster_ctarank()) * share;
  for (int e = static_cast<int>(threadIdx.x); e < m * share; e += kThreads) {
    const int row = e / share;
    const int across = first + e % share;
    float sum = 0;
    for (unsigned r = 0; r < blocks; ++r) sum += ld_shared_cluster(&part[row * kPitch + across], r);
    if (column + across < n) c[row * n + column + across] = from_float<Out>(sum);
  }
}

template <class A, class B, class Out, int kRows>
__global__ void __launch_bounds__(kThreads)
    matmul_wgmma_split_k(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                         Out* c, int m, std::int64_t n, int stages) {
  alignas(kUnitAlignment) extern __shared__ std::byte memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const StageRange own = part_of_stages(stages, cluster_ctarank(), cluster_nctarank());
  const int column = static_cast<int>(blockIdx.x / cluster_nctarank()) * kColumns;
  if (threadIdx.x == 0) shared.barriers.init(kWarpgroup / kWarp);
  __syncthreads();

  auto* const part = reinterpret_cast<float*>(memory);
  if (threadIdx.x == kWarpgroup) {
    produce<B>(shared, a, b, column, own);
  } else if (threadIdx.x < kWarpgroup) {
    TileAccumulators<1, kRows> sum;
    consume<A, B, kRows>(sum, shared, own.count);
    named_barrier_sync(1);  // nobody needs a stage any more
#pragma unroll
    for (int s = 0; s < kRows / 2; ++s)
      part[accumulator_column(s) * kPitch + accumulator_row(s)] = sum[0][s];
  }
  __syncwarp();
  cluster_sync();  // all parts are there
  store_share(part, c, m, n, column);
  cluster_sync_relaxed();  // nobody leaves while another may still read its part
}

template <int kRows, class A, class B, class Out>
Launch launch_rows(const Queue& queue, const Product<A, B, Out>& product) {
  constexpr auto kernel = matmul_wgmma_split_k<A, B, Out, kRows>;
  allow_shared(kernel, sizeof(Shared));
  const std::int64_t tiles = ceil_div(product.n, kColumns);
  const auto stages = static_cast<int>(ceil_div(product.k, kUnitK<A>));
  const int split = split_for(tiles, stages, 2 * sm_count(), kMostSplit);
  const ClusterGrid grid{.blocks = dim3(blocks_for(tiles * split, 1)),
                         .threads = kThreads,
                         .shared_bytes = sizeof(Shared),
                         .stream = stream_of(queue),
                         .cluster = static_cast<unsigned>(split)};
  return [=, a = unit_map(product.a), b = unit_map(product.b), c = product.c,
          m = static_cast<int>(product.m),
          n = product.n] { launch(kernel, grid, a, b, c, m, n, stages); };
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  require_hopper();
  if (shape.layout() != Layout::nt) throw Unsupported("reads B along k: layout nt");
  const Product product(shape, a, b, c);
  if (product.m > kMostRows) throw Unsupported("for up to 64 rows of C");
  return product.m <= 16   ? launch_rows<16>(queue, product)
         : product.m <= 32 ? launch_rows<32>(queue, product)
                           : launch_rows<64>(queue, product);
}

constexpr Technique technique(double approximation_error = 0) {
  return {.operation = "matmul",
          .name = "wgmma_split_k",
          .engine = Engine::tensor,
          .approximation_error = approximation_error};
}

const Registration split_k{technique(), bind<Tf32, Tf32, Tf32>, bind<Fp16, Fp16, Fp16>,
                           bind<Bf16, Bf16, Bf16>};
const Registration split_k_fp8{technique(kFp8SumError), bind<Fp8E4m3, Fp8E4m3, Bf16>,
                               bind<Fp8E5m2, Fp8E5m2, Bf16>, bind<Fp8E4m3, Fp8E5m2, Bf16>,
                               bind<Fp8E5m2, Fp8E4m3, Bf16>};

}  // namespace
}  // namespace ridgebench::cuda
