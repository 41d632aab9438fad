// The tensor cores, by mma.sync: one instruction of a warp multiplies 16 x 32 bytes of A by 32 x 8
// of B, from registers to registers. Three stages of 64 bytes of each of 128 + 128 vectors come in
// by cp.async and leave by ldmatrix. The limit is now the rate of mma.sync: the tensor cores' own
// up to compute capability 8.9, some 63 % of it on 9.0 (arXiv 2402.13499), where only wgmma has the
// rest. Only 8.9 multiplies fp8 by mma.sync; on 9.0 it is converted to fp16 first, a slow
// emulation.
#include "kernels/common/fp8_accumulation.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/mma.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/tile/epilogue.cuh"
#include "kernels/matmul/tile/operands.cuh"
#include "kernels/matmul/tile/stage.cuh"

namespace ridgebench::cuda {
namespace {

constexpr int kTile = kStageVectors;  // rows and columns of C per block
constexpr int kStages = 3;
// Eight warps, 2 x 4, own 64 x 32 outputs each: 4 x 4 products of 16 x 8.
constexpr int kDown = 4;
constexpr int kAcross = 4;

// Blocks per SM: the emulation of fp8 needs registers.
template <class T>
constexpr int kBlocks = kIsFp8<T> ? 1 : 2;

// Adds the products of one stage to the warp's sums; i0 and j0 are its first row and column.
template <bool kAlongA, bool kAlongB, class A, class B>
__device__ void multiply_stage(float (&sum)[kDown][kAcross][4], const Stage& a, const Stage& b,
                               int i0, int j0) {
  // Not where operands take more registers: fp8 to be converted, fp32 to be transposed.
  constexpr bool direct = sizeof(A) == 2 || (sizeof(A) == 4 && kAlongA && kAlongB);
  [[maybe_unused]] constexpr int unrolled = direct ? kStageSteps : 1;
#pragma unroll unrolled
  for (int step = 0; step < kStageSteps; ++step) {
    std::uint32_t y[kAcross / 2][4];
#pragma unroll
    for (int j = 0; j < kAcross / 2; ++j) {
      load_fragment<Side::b, kAlongB, B>(y[j], b, j0 + 16 * j, step);
    }
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
      std::uint32_t x[4];
      load_fragment<Side::a, kAlongA, A>(x, a, i0 + 16 * i, step);
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        Mma<A, B>::multiply_add(sum[i][j], x, {y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]});
      }
    }
  }
}

template <Layout kLayout, class A, class B, class Out, class Epilogue>
__global__ void __launch_bounds__(kStageThreads, kBlocks<A>)
    multiply(Product<A, B, Out> product, Epilogue finish, bool aligned_a, bool aligned_b,
             bool aligned_c) {
  constexpr bool along_a = a_is_k_major(kLayout);
  constexpr bool along_b = b_is_k_major(kLayout);
  constexpr int depth = kStageDepth<A>;
  __shared__ alignas(128) Stage a[kStages];
  __shared__ alignas(128) Stage b[kStages];
  const std::int64_t row = std::int64_t{blockIdx.y} * kTile;
  const std::int64_t column = std::int64_t{blockIdx.x} * kTile;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int i0 = warp / 4 * 64;
  const int j0 = warp % 4 * 32;

  const auto fill = [&](int stage, std::int64_t p0) {
    fill_stage<along_a>(a[stage], product.a, row, p0, aligned_a);
    fill_stage<along_b>(b[stage], product.b, column, p0, aligned_b);
    cp_async_commit_group();
  };
  for (int stage = 0; stage < kStages - 1; ++stage) fill(stage, stage * depth);
  float sum[kDown][kAcross][4] = {};
  int current = 0;
  for (std::int64_t p0 = 0; p0 < product.k; p0 += depth) {
    cp_async_wait_group<kStages - 2>();
    __syncthreads();  // the current stage is there, and nobody reads the one before it any more
    fill((current + kStages - 1) % kStages, p0 + (kStages - 1) * depth);
    multiply_stage<along_a, along_b, A, B>(sum, a[current], b[current], i0, j0);
    current = (current + 1) % kStages;
  }

  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
  for (int i = 0; i < kDown * 2; ++i) {
    const std::int64_t r = row + i0 + 8 * i + lane / 4;
    if (r >= product.m) continue;
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
      store_accumulators<2>(product.c, product.n, r, column + j0 + 8 * j + lane % 4 * 2,
                            &sum[i / 2][j][i % 2 * 2], finish, aligned_c);
    }
  }
}

template <Layout kLayout, class A, class B, class Out, class Epilogue>
Launch launch(const Queue& queue, const Product<A, B, Out>& p, Epilogue finish) {
  Mma<A, B>::require();
  const dim3 grid = tiles_for(p.m, p.n, kTile, kTile);
  const bool aligned_a = p.a.is_vectorizable(kVectorElements<A>);
  const bool aligned_b = p.b.is_vectorizable(kVectorElements<B>);
  const bool aligned_c = can_store_vector(p.c, p.n, 2);
  return [=, stream = stream_of(queue)] {
    multiply<kLayout>
        <<<grid, kStageThreads, 0, stream>>>(p, finish, aligned_a, aligned_b, aligned_c);
  };
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  return with_layout(shape.layout(), [&](auto layout) -> Launch {
    if constexpr (kIsFp8<A> && layout != Layout::nt) {
      throw Unsupported("fp8 fragments hold neighbours along k: layout nt only");
    } else {
      return launch<layout>(queue, Product(shape, a, b, c), Plain{});
    }
  });
}

template <class A, class B, class Out>
Launch bind_gelu(Queue& queue, const Shape& shape, const A* a, const B* b, const Out* bias,
                 Out* c) {
  return launch<Layout::nt>(queue, Product(shape, a, b, c), BiasGelu<Out>{bias});
}

Technique technique(std::string_view operation, double approximation_error = 0) {
  return {.operation = operation,
          .name = "mma_sync",
          .engine = Engine::tensor,
          .approximation_error = approximation_error};
}

const Registration mma_sync{technique("matmul"), bind<Tf32, Tf32, Tf32>, bind<Fp16, Fp16, Fp16>,
                            bind<Bf16, Bf16, Bf16>};
const Registration mma_sync_fp8{technique("matmul", kFp8SumError), bind<Fp8E4m3, Fp8E4m3, Bf16>,
                                bind<Fp8E5m2, Fp8E5m2, Bf16>, bind<Fp8E4m3, Fp8E5m2, Bf16>,
                                bind<Fp8E5m2, Fp8E4m3, Bf16>};
const Registration mma_sync_gelu_tf32{technique("matmul_gelu", kGeluExp2Error),
                                      bind_gelu<Tf32, Tf32, Tf32>};
const Registration mma_sync_gelu{technique("matmul_gelu", kGeluTanhError),
                                 bind_gelu<Fp16, Fp16, Fp16>, bind_gelu<Bf16, Bf16, Bf16>};
const Registration mma_sync_gelu_fp8{
    technique("matmul_gelu", kGeluTanhError + kFp8SumError), bind_gelu<Fp8E4m3, Fp8E4m3, Bf16>,
    bind_gelu<Fp8E5m2, Fp8E5m2, Bf16>, bind_gelu<Fp8E4m3, Fp8E5m2, Bf16>,
    bind_gelu<Fp8E5m2, Fp8E4m3, Bf16>};

}  // namespace
}  // namespace ridgebench::cuda
