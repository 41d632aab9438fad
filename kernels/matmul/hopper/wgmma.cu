// wgmma, Hopper's tensor core instruction: a warpgroup multiplies 128 x 128 and reads both operands
// from shared memory, so that they no longer pass through registers. Three stages come by cp.async,
// as in mma_sync, and the copies of one stage run while another is multiplied. The limit is no
// longer the instruction, but the threads' time for the addresses of the copies.
#include "kernels/matmul/hopper/mainloop.cuh"

namespace ridgebench::cuda::matmul_wgmma {

constexpr int kTile = 128;  // rows and columns of C per block
constexpr int kThreads = kWarpgroup;
constexpr int kStages = 3;
constexpr int kSubTiles = kTile / kWgmmaM;
constexpr int kOperandBytes = kTile / kBoxRows * kBoxBytes;  // of one stage
constexpr int kSharedBytes = kStages * 2 * kOperandBytes;

// Starts to copy 128 bytes of k of the 128 rows of A or columns of B from `first` on.
template <bool kKMajor, class T>
__device__ void fill(std::byte* shared, const MatrixOperand<T>& x, std::int64_t first,
                     std::int64_t k, bool aligned) {
  constexpr int row_vectors = kRowBytes / kVectorBytes;
#pragma unroll 4
  for (int id = static_cast<int>(threadIdx.x); id < kOperandBytes / kVectorBytes; id += kThreads) {
    const int box = id / (kBoxRows * row_vectors);
    const int row = id / row_vectors % kBoxRows;
    const int vector = id % row_vectors;
    const std::int64_t mn = first + box * kBoxRows;
    const std::int64_t from = (kKMajor ? k : mn) + vector * kVectorElements<T>;
    copy_vector_async<kKMajor>(shared + box * kBoxBytes + swizzle_128b(row, vector * kVectorBytes),
                               x, (kKMajor ? mn : k) + row, from, aligned);
  }
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
  const auto fill_stage = [&](int stage, std::int64_t k) {
    fill<a_is_k_major(kLayout)>(a_of(stage), product.a, row, k, aligned_a);
    fill<b_is_k_major(kLayout)>(b_of(stage), product.b, column, k, aligned_b);
    cp_async_commit_group();
  };
  for (int stage = 0; stage < kStages - 1; ++stage) fill_stage(stage, stage * block_k);
  Accumulators<kSubTiles, kTile> d;
  int current = 0;
  for (std::int64_t k = 0; k < product.k; k += block_k) {
    cp_async_wait_group<kStages - 2>();
    fence_proxy_async();
    __syncthreads();  // all threads' copies of the current stage are visible to wgmma
    multiply_stage<kLayout, A, B>(d, a_of(current), b_of(current), k > 0);
    fill_stage((current + kStages - 1) % kStages, k + (kStages - 1) * block_k);
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
