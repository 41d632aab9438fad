// Warp specialisation and TMA: one thread of a producer warpgroup starts TMA loads up to four
// stages ahead, and two consumer warpgroups only multiply, 64 x 256 each. TMA generates the
// addresses, setmaxnreg moves registers to the consumers, and full and empty mbarriers form the
// pipeline. The limit should be the tensor cores, except at the start and the end of each block.
#include "kernels/matmul/hopper/mainloop.cuh"

namespace ridgebench::cuda::matmul_wgmma_tma {

using Tile = BlockTile<128, 256>;
constexpr int kStages = 4;

struct Shared {
  std::byte stage[kStages][Tile::kStageBytes];
  TmaPipeline<kStages> pipeline;
};

template <Layout kLayout, class A, class B>
__device__ void consume(Accumulators<1, Tile::kBlockN>& d, Shared& shared, int consumer,
                        int stages) {
  PipelineState<kStages> state;
  for (int i = 0; i < stages; ++i, state.advance()) {
    const std::byte* const boxes = shared.stage[state.stage];
    shared.pipeline.consumer_wait(state);
    multiply_stage<kLayout, A, B>(d, boxes + consumer * kBoxBytes, boxes + Tile::kOffsetB, i > 0);
    warpgroup_wait<0>();
    shared.pipeline.consumer_release(state.stage);
  }
}

template <Layout kLayout, class A, class B, class Out>
__global__ void __launch_bounds__(kWarpSpecialisedThreads, 1)
    matmul_wgmma_tma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                     Product<A, B, Out> product, bool aligned_c) {
  alignas(kAtomBytes) extern __shared__ std::byte memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int row = static_cast<int>(blockIdx.y) * Tile::kBlockM;
  const int column = static_cast<int>(blockIdx.x) * Tile::kBlockN;
  const int stages = static_cast<int>(ceil_div(product.k, kBlockK<A>));
  if (threadIdx.x == 0) shared.pipeline.init(kConsumerWarps);
  __syncthreads();

  if (threadIdx.x < kWarpgroup) {
    warpgroup_reg_dealloc<24>();
    if (threadIdx.x == 0) {
      load_tile<kLayout, A, Tile>(shared.stage, shared.pipeline, a, b, row, column, stages);
    }
  } else {
    warpgroup_reg_alloc<240>();
    const int consumer = warpgroup_index() - 1;
    Accumulators<1, Tile::kBlockN> d;
    consume<kLayout, A, B>(d, shared, consumer, stages);
    store_tile(d, product, row + consumer * kWgmmaM, column, aligned_c);
  }
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  return with_wgmma_layout<A>(shape.layout(), [&](auto layout) -> Launch {
    const Product product(shape, a, b, c);
    constexpr auto kernel = matmul_wgmma_tma<layout, A, B, Out>;
    set_max_dynamic_shared_bytes(kernel, sizeof(Shared));
    const ClusterGrid grid{.blocks = tiles_for(product.m, product.n, Tile::kBlockM, Tile::kBlockN),
                           .threads = kWarpSpecialisedThreads,
                           .shared_bytes = sizeof(Shared),
                           .stream = stream_of(queue)};
    return [=, map_a = operand_map(product.a), map_b = operand_map(product.b),
            aligned_c = can_store_vector(c, product.n, 2)] {
      launch(kernel, grid, map_a, map_b, product, aligned_c);
    };
  });
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape,
                                    FormatPair formats) {
  if (auto reason = supports_wgmma_tma(machine, shape, formats)) return reason;
  return tile_grid_limit(shape["m"], shape["n"], Tile::kBlockM, Tile::kBlockN);
}

const Registration wgmma_tma{
    []<class P>() { return wgmma_technique<P>("wgmma_tma", supports); }, WgmmaProducts{},
    []<class P>() { return bind<typename P::A, typename P::B, typename P::Out>; }};

}  // namespace ridgebench::cuda::matmul_wgmma_tma
