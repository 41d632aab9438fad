// Few rows, as in decoding with a small batch: nearly all bytes are B's, and enough loads of B must
// be in flight on every SM. The kernel computes the product transposed: 64 columns of C are the M
// of wgmma, up to 64 rows of C its N. Where the columns give too few blocks, the blocks of a
// cluster split k: each accumulates a part, and each adds the parts of its share of C from all
// blocks' shared memory, in a fixed order. The limit is the bandwidth of reading B.
#include "kernels/matmul/hopper/mainloop.cuh"
#include "kernels/matmul/hopper/tile_scheduler.hpp"

namespace ridgebench::cuda::matmul_wgmma_split_k {

constexpr int kMaxRows = kBoxRows;            // of C
constexpr int kColumns = kBoxRows;            // of C per cluster
constexpr int kThreads = kWarpgroup + kWarp;  // the last warp loads
constexpr int kStages = 6;                    // two blocks of an SM have 96 KiB of B in flight
constexpr int kStageBytes = 2 * kBoxBytes;    // a box of B, then one of A
constexpr int kMaxCluster = 8;                // blocks of a portable cluster
// Elements from one row of accumulators in shared memory to the next. Lane l writes to row
// 2 (l % 4) and column l / 4 of a corner, so two rows must lie 8 banks apart.
constexpr int kPitch = kColumns + 4;

struct Shared {
  std::byte stage[kStages][kStageBytes];  // at the end the block's accumulators
  TmaPipeline<kStages> pipeline;
};
static_assert(sizeof(Shared::stage) >= kMaxRows * kPitch * sizeof(float));

template <class T>
__device__ void produce(Shared& shared, const TensorMap& a, const TensorMap& b, int column,
                        StageRange range) {
  PipelineState<kStages> state;
  for (int i = range.first; i < range.first + range.count; ++i, state.advance()) {
    std::byte* const boxes = shared.stage[state.stage];
    Barrier& full = shared.pipeline.producer_acquire(state, kStageBytes);
    load_operand<true, 1>(boxes, b, column, i * kBlockK<T>, full);
    load_operand<true, 1>(boxes + kBoxBytes, a, 0, i * kBlockK<T>, full);
  }
}

template <class A, class B, int kRows>
__device__ void consume(Accumulators<1, kRows>& d, Shared& shared, int stages) {
  PipelineState<kStages> state;
  int before = 0;
  for (int i = 0; i < stages; ++i, state.advance()) {
    const std::byte* const boxes = shared.stage[state.stage];
    shared.pipeline.consumer_wait(state);
    multiply_stage<Layout::nt, B, A>(d, boxes, boxes + kBoxBytes, i > 0);
    warpgroup_wait<1>();  // the stage before has been multiplied
    if (i > 0) shared.pipeline.consumer_release(before);
    before = state.stage;
  }
  warpgroup_wait<0>();
}

// Adds the parts of all blocks of the cluster for this block's share of the columns, and stores.
template <class Out>
__device__ void store_share(const float* part, Out* c, int m, std::int64_t n, std::int64_t column,
                            bool aligned_c) {
  constexpr int vector = 4;
  const unsigned blocks = cluster_nctarank();
  const int share = kColumns / static_cast<int>(blocks);
  const int first = static_cast<int>(cluster_ctarank()) * share;
  for (int v = static_cast<int>(threadIdx.x); v < m * share / vector; v += kThreads) {
    const int row = v * vector / share;
    const int offset = first + v * vector % share;
    const auto* const own = reinterpret_cast<const float4*>(&part[row * kPitch + offset]);
    float4 x[kMaxCluster];  // all are under way before the first is added
#pragma unroll
    for (unsigned r = 0; r < kMaxCluster; ++r) {
      x[r] = r < blocks ? ld_shared_cluster(own, r) : float4{};
    }
    float sum[vector]{};
#pragma unroll
    for (const float4& own_part : x) {
      sum[0] += own_part.x;
      sum[1] += own_part.y;
      sum[2] += own_part.z;
      sum[3] += own_part.w;
    }
    store_accumulators<vector>(c, n, row, column + offset, sum, Plain{}, aligned_c);
  }
}

template <class A, class B, class Out, int kRows>
__global__ void __launch_bounds__(kThreads)
    matmul_wgmma_split_k(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                         Out* c, int m, std::int64_t n, int stages, bool aligned_c) {
  alignas(kAtomBytes) extern __shared__ std::byte memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const StageRange own = split_k_range(stages, cluster_ctarank(), cluster_nctarank());
  const int column = static_cast<int>(blockIdx.x / cluster_nctarank()) * kColumns;
  if (threadIdx.x == 0) shared.pipeline.init(kWarpgroup / kWarp);
  __syncthreads();
  griddepcontrol_launch_dependents();
  griddepcontrol_wait();  // the kernel before this one has written the operands

  auto* const part = reinterpret_cast<float*>(memory);
  if (threadIdx.x == kWarpgroup) {
    produce<B>(shared, a, b, column, own);
  } else if (threadIdx.x < kWarpgroup) {
    Accumulators<1, kRows> d;
    consume<A, B, kRows>(d, shared, own.count);
    named_barrier_sync(1);  // the stages are no longer in use
#pragma unroll
    for (int i = 0; i < kRows / 2; ++i) {
      part[accumulator_column(i) * kPitch + accumulator_row(i)] = d[0][i];
    }
  }
  __syncwarp();
  cluster_sync();  // all parts are visible
  store_share(part, c, m, n, column, aligned_c);
  cluster_sync_relaxed();  // a block must not exit while another may read its part
}

template <int kRows, class A, class B, class Out>
Launch launch_rows(const Queue& queue, const Product<A, B, Out>& product) {
  constexpr auto kernel = matmul_wgmma_split_k<A, B, Out, kRows>;
  set_max_dynamic_shared_bytes(kernel, sizeof(Shared));
  const std::int64_t tiles = ceil_div(product.n, kColumns);
  const auto stages = static_cast<int>(ceil_div(product.k, kBlockK<A>));
  const int split = split_k_blocks(tiles, stages, 2 * sm_count(), kMaxCluster);
  const ClusterGrid grid{.blocks = dim3(blocks_for(tiles * split, 1)),
                         .threads = kThreads,
                         .shared_bytes = sizeof(Shared),
                         .stream = stream_of(queue),
                         .cluster = static_cast<unsigned>(split),
                         .dependent_launch = queue.early_launches()};
  return [=, a = operand_map(product.a), b = operand_map(product.b), c = product.c,
          m = static_cast<int>(product.m), n = product.n,
          aligned_c = can_store_vector(product.c, product.n, 4)] {
    launch(kernel, grid, a, b, c, m, n, stages, aligned_c);
  };
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  const Product product(shape, a, b, c);
  return product.m <= 16   ? launch_rows<16>(queue, product)
         : product.m <= 32 ? launch_rows<32>(queue, product)
                           : launch_rows<64>(queue, product);
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape,
                                    FormatPair formats) {
  if (auto reason = supports_wgmma_tma(machine, shape, formats)) return reason;
  if (shape.layout() != Layout::nt) return "reads B K-major: layout nt";
  if (shape["m"] > kMaxRows) return "for up to 64 rows of C";
  return std::nullopt;
}

const Registration wgmma_split_k{
    []<class P>() { return wgmma_technique<P>("wgmma_split_k", supports); }, WgmmaProducts{},
    []<class P>() { return bind<typename P::A, typename P::B, typename P::Out>; }};

}  // namespace ridgebench::cuda::matmul_wgmma_split_k
