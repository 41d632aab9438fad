// wgmma, Hopper's tensor core instruction: a warpgroup multiplies 128 x 128 and reads both operands
// from shared memory, so that they no longer pass through registers. Three stages come by cp.async,
// as in mma_sync, and the copies of one stage run while another is multiplied. The limit is no
// longer the instruction, but the L2 cache, which feeds a tile of 128 x 128 at 73 % of the tensor
// cores' rate.
#include "kernels/matmul/hopper/mainloop.cuh"
#include "kernels/matmul/tile/tile_copies.cuh"

namespace ridgebench::cuda::matmul_wgmma {

constexpr int kTile = 128;  // rows and columns of C per block
constexpr int kThreads = kWarpgroup;
constexpr int kStages = 3;
constexpr int kSubTiles = kTile / kWgmmaM;
constexpr int kOperandBytes = kTile / kBoxRows * kBoxBytes;  // of one stage
constexpr int kSharedBytes = kStages * 2 * kOperandBytes;

constexpr int kLineVectors = kRowBytes / kVectorBytes;
constexpr int kVectorsOfThread = kOperandBytes / kVectorBytes / kThreads;

// Boxes of 64 lines of 128 bytes. K-major, those of a tile are one after the other in memory, too.
template <bool kKMajor, class T>
using Copies =
    TileCopies<kKMajor, T, kThreads, kVectorsOfThread, kLineVectors, kKMajor ? kTile : kBoxRows>;

// The place of the calling thread's first vector in a tile.
__device__ int first_vector() {
  const int thread = static_cast<int>(threadIdx.x);
  return swizzle_128b(thread / kLineVectors, thread % kLineVectors * kVectorBytes);
}

template <Layout kLayout, class A, class B, class Out>
__global__ void __launch_bounds__(kThreads, 2)
    matmul_wgmma(Product<A, B, Out> product, bool aligned_a, bool aligned_b, bool aligned_c) {
  alignas(kAtomBytes) extern __shared__ std::byte shared[];
  constexpr int block_k = kBlockK<A>;
  const std::int64_t row = std::int64_t{blockIdx.y} * kTile;
  const std::int64_t column = std::int64_t{blockIdx.x} * kTile;

  const auto a_of = [&](int stage) { return shared + stage * 2 * kOperandBytes; };
  const auto b_of = [&](int stage) { return a_of(stage) + kOperandBytes; };
  Copies<a_is_k_major(kLayout), A> copies_a(product.a, row, first_vector());
  Copies<b_is_k_major(kLayout), B> copies_b(product.b, column, first_vector());
  const auto fill_next = [&](int stage) {
    copies_a.template start<block_k>(a_of(stage), aligned_a);
    copies_b.template start<block_k>(b_of(stage), aligned_b);
    cp_async_commit_group();
  };
#pragma unroll 1
  for (int stage = 0; stage < kStages - 1; ++stage) fill_next(stage);
  Accumulators<kSubTiles, kTile> d;
  int current = 0;
  for (std::int64_t k = 0; k < product.k; k += block_k) {
    cp_async_wait_group<kStages - 2>();
    fence_proxy_async();
    __syncthreads();  // all threads' copies of the current stage are visible to wgmma
    multiply_stage<kLayout, A, B>(d, a_of(current), b_of(current), k > 0);
    fill_next((current + kStages - 1) % kStages);
    warpgroup_wait<0>();
    current = (current + 1) % kStages;
  }
  store_tile(d, product, row, column, aligned_c);
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  return with_wgmma_layout<A>(shape.layout(), [&](auto layout) -> Launch {
    const Product product(shape, a, b, c);
    constexpr auto kernel = matmul_wgmma<layout, A, B, Out>;
    set_max_dynamic_shared_bytes(kernel, kSharedBytes);
    const ClusterGrid grid{.blocks = tiles_for(product.m, product.n, kTile, kTile),
                           .threads = kThreads,
                           .shared_bytes = kSharedBytes,
                           .stream = stream_of(queue)};
    return [=, aligned_a = product.a.is_vectorizable(kVectorElements<A>),
            aligned_b = product.b.is_vectorizable(kVectorElements<B>),
            aligned_c = can_store_vector(c, product.n, 2)] {
      launch(kernel, grid, product, aligned_a, aligned_b, aligned_c);
    };
  });
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape,
                                    FormatPair formats) {
  if (auto reason = supports_wgmma(machine, shape, formats)) return reason;
  return tile_grid_limit(shape["m"], shape["n"], kTile, kTile);
}

const Registration wgmma{
    []<class P>() { return wgmma_technique<P>("wgmma", supports); }, WgmmaProducts{},
    []<class P>() { return bind<typename P::A, typename P::B, typename P::Out>; }};

}  // namespace ridgebench::cuda::matmul_wgmma
