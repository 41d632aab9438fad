// Few rows, as in decoding with a small batch: nearly all bytes are B's, and enough loads of B must
// be in flight on every SM. The kernel computes the product transposed: 64 or 128 columns of C are
// the M of wgmma, up to 64 rows of C its N. Where the columns give too few blocks, the blocks of a
// cluster split k: each accumulates a part, and each adds the parts of its share of C from all
// blocks' shared memory, in a fixed order. The limit is the bandwidth of reading B. Tiles of 128 x
// 128 serve small C with a long k, whose tiles would leave SMs idle; there the L2 cache is the
// limit.
//   ridgebench run --op matmul --technique wgmma_split_k --format bf16 --shape m:512/n:512/k:16384
#include "kernels/matmul/hopper/split_k_parts.cuh"

namespace ridgebench::cuda::matmul_wgmma_split_k {

template <class T, int kBoxesB, int kBoxesA>
__device__ void produce(Shared<kBoxesB, kBoxesA>& shared, const TensorMap& a, const TensorMap& b,
                        int row, int column, StageRange range) {
  using Memory = Shared<kBoxesB, kBoxesA>;
  PipelineState<Memory::kStages> state;
  for (int i = range.first; i < range.first + range.count; ++i, state.advance()) {
    std::byte* const boxes = shared.stage[state.stage];
    Barrier& full = shared.pipeline.producer_acquire(state, Memory::kStageBytes);
    load_operand<true, kBoxesB>(boxes, b, column, i * kBlockK<T>, full);
    load_operand<true, kBoxesA>(boxes + Memory::kOffsetA, a, row, i * kBlockK<T>, full);
  }
}

template <class A, class B, int kRows, int kBoxesB, int kBoxesA>
__device__ void consume(Accumulators<kBoxesB, kRows>& d, Shared<kBoxesB, kBoxesA>& shared,
                        int stages) {
  PipelineState<Shared<kBoxesB, kBoxesA>::kStages> state;
  int before = 0;
  for (int i = 0; i < stages; ++i, state.advance()) {
    const std::byte* const boxes = shared.stage[state.stage];
    shared.pipeline.consumer_wait(state);
    multiply_stage<Layout::nt, B, A>(d, boxes, boxes + Shared<kBoxesB, kBoxesA>::kOffsetA, i > 0);
    warpgroup_wait<1>();  // the stage before has been multiplied
    if (i > 0) shared.pipeline.consumer_release(before);
    before = state.stage;
  }
  warpgroup_wait<0>();
}

// Boxes of A that hold kRows rows.
template <int kRows>
inline constexpr int kBoxesOf = (kRows + kBoxRows - 1) / kBoxRows;

template <class A, class B, class Out, int kRows, int kBoxesB>
__global__ void __launch_bounds__(kThreads, kSplitKBlocksOfSm)
    matmul_wgmma_split_k(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                         Out* c, int m, std::int64_t n, int stages, bool aligned_c) {
  using Memory = Shared<kBoxesB, kBoxesOf<kRows>>;
  alignas(kAtomBytes) extern __shared__ std::byte memory[];
  auto& shared = *reinterpret_cast<Memory*>(memory);
  const StageRange own = split_k_range(stages, cluster_ctarank(), cluster_nctarank());
  const int row = static_cast<int>(blockIdx.y) * kRows;
  const int column = static_cast<int>(blockIdx.x / cluster_nctarank()) * Memory::kColumns;
  if (threadIdx.x == 0) shared.pipeline.init(kWarpgroup / kWarp);
  __syncthreads();
  griddepcontrol_launch_dependents();
  griddepcontrol_wait();  // the kernel before this one has written the operands

  auto* const part = reinterpret_cast<float*>(memory);
  if (threadIdx.x == kWarpgroup) {
    produce<B>(shared, a, b, row, column, own);
  } else if (threadIdx.x < kWarpgroup) {
    Accumulators<kBoxesB, kRows> d;
    consume<A, B, kRows>(d, shared, own.count);
    named_barrier_sync(1);  // the stages are no longer in use
    write_part<kBoxesB, kRows>(part, d);
  }
  __syncwarp();
  cluster_sync();  // all parts are visible
  store_share<kBoxesB>(part, c + row * n, min(kRows, m - row), n, column, aligned_c);
  cluster_sync_relaxed();  // a block must not exit while another may read its part
}

template <int kRows, int kBoxesB, class A, class B, class Out>
Launch launch_rows(const Queue& queue, const Product<A, B, Out>& product, int split) {
  constexpr auto kernel = matmul_wgmma_split_k<A, B, Out, kRows, kBoxesB>;
  constexpr int shared_bytes = sizeof(Shared<kBoxesB, kBoxesOf<kRows>>);
  set_max_dynamic_shared_bytes(kernel, shared_bytes);
  const std::int64_t columns = ceil_div(product.n, Shared<kBoxesB>::kColumns);
  const std::int64_t rows = ceil_div(product.m, kRows);
  const auto stages = static_cast<int>(ceil_div(product.k, kBlockK<A>));
  const ClusterGrid grid{.blocks = dim3(blocks_for(columns * split, 1), blocks_for(rows, 1)),
                         .threads = kThreads,
                         .shared_bytes = shared_bytes,
                         .stream = stream_of(queue),
                         .cluster = static_cast<unsigned>(split),
                         .dependent_launch = queue.early_launches()};
  return [=, a = operand_map(product.a), b = operand_map(product.b), c = product.c,
          m = static_cast<int>(product.m), n = product.n,
          aligned_c = can_store_vector(product.c, product.n, 4)] {
    launch(kernel, grid, a, b, c, m, n, stages, aligned_c);
  };
}

template <class A>
SplitKChoice prepare(Queue& /*queue*/, const Shape& shape) {
  const auto stages = static_cast<int>(ceil_div(shape["k"], kBlockK<A>));
  return choose_split_k(shape["m"], shape["n"], stages, sm_count());
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const SplitKChoice& choice, const Shape& shape, const A* a, const B* b,
            Out* c) {
  const Product product(shape, a, b, c);
  const auto [rows, columns] = choice.tile;
  if (rows == kSplitKTile.m) return launch_rows<kSplitKTile.m, 2>(queue, product, choice.blocks);
  if (columns > kBoxRows) return launch_rows<64, 2>(queue, product, choice.blocks);
  return rows == 16   ? launch_rows<16, 1>(queue, product, choice.blocks)
         : rows == 32 ? launch_rows<32, 1>(queue, product, choice.blocks)
                      : launch_rows<64, 1>(queue, product, choice.blocks);
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape,
                                    FormatPair formats) {
  if (auto reason = supports_wgmma_tma(machine, shape, formats)) return reason;
  if (shape.layout() != Layout::nt) return "reads B K-major: layout nt";
  if (shape["m"] <= kBoxRows) return std::nullopt;
  const std::int64_t row_bytes = shape["k"] * info(formats.a).storage_bytes;
  const ProductWork work{.m = shape["m"],
                         .n = shape["n"],
                         .stages = ceil_div(row_bytes, kRowBytes),
                         .epilogue_clocks = epilogue_clocks(
                             info(product_format(formats)).storage_bytes, /*gelu=*/false)};
  if (split_k_pays(work, machine.units)) return std::nullopt;
  return "for up to 64 rows of C, or a C of so few tiles that a long k is better split; "
         "wgmma_pingpong serves others";
}

const Registration wgmma_split_k{
    []<class P>() { return wgmma_technique<P>("wgmma_split_k", supports); }, WgmmaProducts{},
    []<class P>() {
      return planned(prepare<typename P::A>, bind<typename P::A, typename P::B, typename P::Out>);
    }};

}  // namespace ridgebench::cuda::matmul_wgmma_split_k
