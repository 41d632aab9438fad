// The tensor cores, by mma.sync: one instruction of a warp multiplies 16 x 32 bytes of A by 32 x 8
// of B, from registers to registers. Three stages of 64 bytes of k of 128 + 128 rows arrive by
// cp.async and leave by ldmatrix. The limit is the tensor cores' rate on 8.x and 12.0, and shared
// memory on 9.0. Only 8.9 and 12.0 multiply fp8 by it; elsewhere ptxas emulates that by fp16.
// Blocks along z serve the products of a batch. The grouped form takes a block's tile from a table.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/mma.cuh"
#include "kernels/common/fp8_accumulation.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/tile/operands.cuh"
#include "kernels/matmul/tile/product_groups.cuh"
#include "kernels/matmul/tile/stage.cuh"

namespace ridgebench::cuda::matmul_mma_sync {

constexpr int kTile = kStageRows;  // M and N of a block
constexpr int kStages = 3;
constexpr int kWarpM = 4, kWarpN = 4;  // products of 16 x 8 in the 64 x 32 outputs of a warp

// Adds the products of one stage to the accumulators of the warp whose outputs start at (m, n).
template <bool kKMajorA, bool kKMajorB, class A, class B>
__device__ void multiply_stage(float (&acc)[kWarpM][kWarpN][4], const Stage& a, const Stage& b,
                               int m, int n) {
  // The conversion of fp8 and the transposition of MN-major fp32 need more registers.
  constexpr bool direct = sizeof(A) == 2 || (sizeof(A) == 4 && kKMajorA && kKMajorB);
  [[maybe_unused]] constexpr int unrolled = direct ? kStageSteps : 1;
#pragma unroll unrolled
  for (int step = 0; step < kStageSteps; ++step) {
    std::uint32_t y[kWarpN / 2][4];
#pragma unroll
    for (int j = 0; j < kWarpN / 2; ++j) {
      load_fragment<Side::b, kKMajorB, B>(y[j], b, n + 16 * j, step);
    }
#pragma unroll
    for (int i = 0; i < kWarpM; ++i) {
      std::uint32_t x[4];
      load_fragment<Side::a, kKMajorA, A>(x, a, m + 16 * i, step);
#pragma unroll
      for (int j = 0; j < kWarpN; ++j) {
        Mma<A, B>::multiply_add(acc[i][j], x, {y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]});
      }
    }
  }
}

// Products: ProductBatch or ProductGroups.
template <Layout kLayout, class Products, class Epilogue, class A = typename Products::A,
          class B = typename Products::B>
__global__ void __launch_bounds__(kStageThreads, kIsFp8<A> ? 1 : 2)
    matmul_mma_sync(Products product, Epilogue epilogue, bool aligned_a, bool aligned_b,
                    bool aligned_c) {
  product.start_block();
  constexpr bool a_k_major = a_is_k_major(kLayout);
  constexpr bool b_k_major = b_is_k_major(kLayout);
  alignas(128) __shared__ Stage a[kStages];
  alignas(128) __shared__ Stage b[kStages];
  const std::int64_t tile_m = product.first_row(kTile);
  const std::int64_t tile_n = std::int64_t{blockIdx.x} * kTile;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int warp_m = warp / 4 * 64, warp_n = warp % 4 * 32;

  StageCopies<a_k_major, A> copies_a(product.a, tile_m, first_vector<a_k_major, A>());
  StageCopies<b_k_major, B> copies_b(product.b, tile_n, first_vector<b_k_major, B>());
  const auto fill_next = [&](int stage) {
    copies_a.template start<kStageK<A>>(a[stage], aligned_a);
    copies_b.template start<kStageK<A>>(b[stage], aligned_b);
    cp_async_commit_group();
  };
#pragma unroll 1
  for (int stage = 0; stage < kStages - 1; ++stage) fill_next(stage);
  float acc[kWarpM][kWarpN][4] = {};
  int current = 0;
  for (std::int64_t k = 0; k < product.k; k += kStageK<A>) {
    cp_async_wait_group<kStages - 2>();
    __syncthreads();  // the current stage has arrived, and every warp has read the one before it
    fill_next((current + kStages - 1) % kStages);
    multiply_stage<a_k_major, b_k_major, A, B>(acc, a[current], b[current], warp_m, warp_n);
    current = (current + 1) % kStages;
  }
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t n = tile_n + warp_n + lane % 4 * 2;
  float bias[kWarpN * 2];
#pragma unroll
  for (int j = 0; j < kWarpN * 2; ++j) bias[j] = epilogue.bias_of(n + j / 2 * 8 + j % 2, product.n);
#pragma unroll
  for (int i = 0; i < kWarpM * 2; ++i) {
    const std::int64_t m = tile_m + warp_m + 8 * i + lane / 4;
    if (m >= product.m) continue;
#pragma unroll
    for (int j = 0; j < kWarpN; ++j) {
      const float* const sum = &acc[i / 2][j][i % 2 * 2];
      const float pair[2] = {epilogue(sum[0], bias[2 * j]), epilogue(sum[1], bias[2 * j + 1])};
      store_results<2>(product.c_of_block(), product.n, product.ldc, m, n + 8 * j, pair, aligned_c);
    }
  }
}

template <Layout kLayout, class Products, class Epilogue>
Launch launch(const Queue& queue, const Products& product, dim3 grid, Epilogue epilogue) {
  const bool aligned_a = product.a.is_vectorizable(kVectorElements<typename Products::A>);
  const bool aligned_b = product.b.is_vectorizable(kVectorElements<typename Products::B>);
  const bool aligned_c = can_store_vector(product.c, product.n, product.ldc, 2);
  return [=, stream = stream_of(queue)] {
    matmul_mma_sync<kLayout>
        <<<grid, kStageThreads, 0, stream>>>(product, epilogue, aligned_a, aligned_b, aligned_c);
  };
}

template <Layout kLayout, class A, class B, class Out, class Epilogue>
Launch launch(const Queue& queue, const ProductBatch<A, B, Out>& product, Epilogue epilogue) {
  dim3 grid = tiles_for(product.m, product.n, kTile, kTile);
  grid.z = product.batch;
  return launch<kLayout>(queue, product, grid, epilogue);
}

template <class P>
Launch bind(Queue& queue, const Shape& shape, const typename P::A* a, const typename P::B* b,
            typename P::Out* c) {
  const ProductBatch product(shape, a, b, c);
  if constexpr (kIsFp8<typename P::A>) {
    return launch<Layout::nt>(queue, product, Plain{});
  } else {
    return with_layout(shape.layout(),
                       [&](auto layout) { return launch<layout>(queue, product, Plain{}); });
  }
}

template <class P>
Launch bind_gelu(Queue& queue, const Shape& shape, const typename P::A* a, const typename P::B* b,
                 const typename P::Out* bias, typename P::Out* c) {
  return launch<Layout::nt>(queue, ProductBatch(shape, a, b, c), BiasGelu<typename P::Out>{bias});
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair format) {
  if (machine.compute_capability < 80) return "mma.sync needs compute capability 8.0";
  const bool fp8 = info(format.a).storage_bytes == 1;
  if (fp8 && mma_lacks_fp8(machine)) return mma_lacks_fp8(machine);
  if (fp8 && shape.layout() != Layout::nt) return "fp8 fragments lie along k: layout nt only";
  const auto reason = tile_grid_limit(shape["m"], shape["n"], kTile, kTile);
  return reason ? reason : batch_limit(shape);
}

template <class P>
Technique technique(const std::string& operation, double approximation_error) {
  constexpr bool fp8 = kIsFp8<typename P::A>;
  return {.operation = operation,
          .name = "mma_sync",
          .engine = Engine::tensor,
          .supports = supports,
          .accumulator_bits = fp8 ? kFp8SumBits : 0,
          .accumulation_error = fp8 ? kFp8SumError : 0,
          .approximation_error = approximation_error,
          .optional_dimensions = true};
}

Launch bind_groups(Queue& queue, const GroupTable& table, const Shape& shape, const Bf16* a,
                   const Bf16* b, Bf16* c) {
  return bind_group_tiles(table, shape, a, b, c, kTile, [&](const auto& product, dim3 grid) {
    return launch<Layout::nt>(queue, product, grid, Plain{});
  });
}

std::optional<std::string> supports_groups(const Machine& machine, const Shape& shape,
                                           FormatPair /*format*/) {
  if (machine.compute_capability < 80) return "mma.sync needs compute capability 8.0";
  return group_grid_limit(shape, kTile, kTile);
}

constexpr auto kProducts = Tf32Products{} + HalfProducts{} + Fp8Products{};
const Registration mma_sync{[]<class P>() { return technique<P>("matmul", 0); }, kProducts,
                            []<class P>() { return bind<P>; }};
const Registration mma_sync_grouped{{.operation = "matmul_grouped",
                                     .name = "mma_sync",
                                     .engine = Engine::tensor,
                                     .supports = supports_groups},
                                    planned(prepare_groups<kTile>, bind_groups)};
const Registration mma_sync_gelu{
    []<class P>() { return technique<P>("matmul_gelu", kGeluError<typename P::Out>); }, kProducts,
    []<class P>() { return bind_gelu<P>; }};

}  // namespace ridgebench::cuda::matmul_mma_sync
