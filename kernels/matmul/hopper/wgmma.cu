// wgmma, Hopper's tensor core instruction: a warpgroup multiplies 64 x 128 by 128 out of shared
// memory, so that operands no longer pass through registers. Three stages come in by cp.async, as
// for mma_sync, and the copies of one run while the products of another do. The limit is no longer
// the instruction but the threads that spend their time on addresses of copies.
#include "kernels/common/cuda/cluster_launch.cuh"
#include "kernels/common/cuda/fp8_accumulation.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/hopper/wgmma_tile.cuh"

namespace ridgebench::cuda {
namespace {

constexpr int kTile = 128;  // rows and columns of C per block
constexpr int kThreads = 128;
constexpr int kStages = 3;
constexpr int kDown = kTile / kWgmmaRows;
constexpr int kOperandBytes = kTile / kUnitLines * kUnitBytes;  // of one stage
constexpr int kSharedBytes = kStages * 2 * kOperandBytes;

// Starts copying 128 bytes of k of the 128 vectors from `first` on (copy_vector_async).
template <bool kAlongK, class T>
__device__ void fill(std::byte* shared, const MatrixOperand<T>& x, std::int64_t first, std::int64_t k,
                     bool aligned) {
  constexpr int packs = kLineBytes / kVectorBytes;
#pragma unroll 4
  for (int id = static_cast<int>(threadIdx.x); id < kOperandBytes / kVectorBytes; id += kThreads) {
    const int unit = id / (kUnitLines * packs);
    const int line = id / packs % kUnitLines;
    const int pack = id % packs;
    const std::int64_t vector = first + unit * kUnitLines;
    const std::int64_t from = (kAlongK ? k : vector) + pack * kVectorElements<T>;
    copy_vector_async<kAlongK>(shared + unit * kUnitBytes + swizzled(line, pack * kVectorBytes), x,
                       (kAlongK ? vector : k) + line, from, aligned);
  }
}

template <Layout kLayout, class A, class B, class Out>
__global__ void __launch_bounds__(kThreads, 2)
    matmul_wgmma(Product<A, B, Out> product, bool aligned_a, bool aligned_b, bool aligned_c) {
  alignas(kUnitAlignment) extern __shared__ std::byte shared[];
  constexpr int depth = kUnitK<A>;
  const std::int64_t row = std::int64_t{blockIdx.y} * kTile;
  const std::int64_t column = std::int64_t{blockIdx.x} * kTile;

  const auto a_of = [&](int stage) { return shared + stage * 2 * kOperandBytes; };
  const auto b_of = [&](int stage) { return a_of(stage) + kOperandBytes; };
  const auto fill_stage = [&](int stage, std::int64_t k) {
    fill<a_is_k_major(kLayout)>(a_of(stage), product.a, row, k, aligned_a);
    fill<b_is_k_major(kLayout)>(b_of(stage), product.b, column, k, aligned_b);
    cp_async_commit_group();
  };
  for (int stage = 0; stage < kStages - 1; ++stage) fill_stage(stage, stage * depth);
  TileAccumulators<kDown, kTile> sum;
  int current = 0;
  for (std::int64_t k = 0; k < product.k; k += depth) {
    cp_async_wait_group<kStages - 2>();
    fence_proxy_async();
    __syncthreads();  // the current stage is there for all
    multiply_stage<kLayout, A, B>(sum, a_of(current), b_of(current), k > 0);
    fill_stage((current + kStages - 1) % kStages, k + (kStages - 1) * depth);
    warpgroup_wait<0>();
    current = (current + 1) % kStages;
  }
  store_tile(sum, product, row, column, aligned_c);
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  return with_wgmma_layout<A>(shape.layout(), [&](auto layout) -> Launch {
    const Product product(shape, a, b, c);
    constexpr auto kernel = matmul_wgmma<layout, A, B, Out>;
    allow_shared(kernel, kSharedBytes);
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

constexpr Technique technique(double approximation_error = 0) {
  return {.operation = "matmul",
          .name = "wgmma",
          .engine = Engine::tensor,
          .approximation_error = approximation_error};
}

const Registration wgmma{technique(), bind<Tf32, Tf32, Tf32>, bind<Fp16, Fp16, Fp16>,
                         bind<Bf16, Bf16, Bf16>};
const Registration wgmma_fp8{technique(kFp8SumError), bind<Fp8E4m3, Fp8E4m3, Bf16>,
                             bind<Fp8E5m2, Fp8E5m2, Bf16>, bind<Fp8E4m3, Fp8E5m2, Bf16>,
                             bind<Fp8E5m2, Fp8E4m3, Bf16>};

}  // namespace
}  // namespace ridgebench::cuda
