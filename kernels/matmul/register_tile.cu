// Each thread keeps an 8 x 16 tile of C in registers: 24 numbers from shared memory now serve 128
// multiply-adds. A block of 128 threads owns 128 x 128 outputs and moves along k in slabs of eight,
// fetching the next slab, 16 bytes per load where the operand is aligned, while it multiplies the
// current one. Formats narrower than fp32 are widened on their way into shared memory. Nine
// tenths of the inner loop are multiply-adds: the limit is now the FMA units.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/tile/epilogue.cuh"
#include "kernels/matmul/tile/operands.cuh"
#include "kernels/matmul/tile/slab.cuh"

namespace ridgebench::cuda {
namespace {

constexpr int kTile = kSlabVectors;  // rows and columns of C per block, and threads

// Groups of four neighbours, `kStep` apart; `numbers` must be aligned to 16 bytes.
template <int kStep, int kCount>
__device__ void load_groups(float (&x)[kCount], const float* numbers) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const float4 four = reinterpret_cast<const float4&>(numbers[i / 4 * kStep]);
    x[i] = four.x;
    x[i + 1] = four.y;
    x[i + 2] = four.z;
    x[i + 3] = four.w;
  }
}

template <Layout kLayout, class A, class B, class Out, class Epilogue>
__global__ void __launch_bounds__(kTile, 2)
    multiply(Product<A, B, Out> product, Epilogue finish, bool aligned_a, bool aligned_b,
             bool aligned_c) {
  constexpr bool a_runs = a_is_k_major(kLayout);
  constexpr bool b_runs = b_is_k_major(kLayout);
  __shared__ alignas(16) Slab a[2];  // the one multiplied and the next
  __shared__ alignas(16) Slab b[2];
  const std::int64_t row = std::int64_t{blockIdx.y} * kTile;
  const std::int64_t column = std::int64_t{blockIdx.x} * kTile;
  // A warp owns 64 x 64 outputs: 8 x 4 threads with two groups of four rows and four groups of four
  // columns each. Their order keeps the 16-byte reads free of bank conflicts (maxas wiki, SGEMM).
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int i0 = warp / 2 * 64 + lane / 2 % 8 * 4;
  const int j0 = warp % 2 * 64 + (lane / 16 * 2 + lane % 2) * 4;

  store<a_runs>(a[0], fetch<a_runs>(product.a, row, 0, aligned_a));
  store<b_runs>(b[0], fetch<b_runs>(product.b, column, 0, aligned_b));
  __syncthreads();
  float sum[8][16] = {};
  int current = 0;
  for (std::int64_t p0 = kRun; p0 < product.k + kRun; p0 += kRun) {
    const Run<A> next_a = fetch<a_runs>(product.a, row, p0, aligned_a);
    const Run<B> next_b = fetch<b_runs>(product.b, column, p0, aligned_b);
#pragma unroll
    for (int p = 0; p < kRun; ++p) {
      float x[8];
      float y[16];
      load_groups<32>(x, &a[current][p][i0]);
      load_groups<16>(y, &b[current][p][j0]);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) sum[i][j] += x[i] * y[j];
      }
    }
    current ^= 1;
    store<a_runs>(a[current], next_a);
    store<b_runs>(b[current], next_b);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::int64_t r = row + i0 + i / 4 * 32 + i % 4;
    if (r >= product.m) continue;
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      store_accumulators<4>(product.c, product.n, r, column + j0 + 16 * g, &sum[i][4 * g], finish,
                            aligned_c);
    }
  }
}

template <Layout kLayout, class A, class B, class Out, class Epilogue>
Launch launch(const Queue& queue, const Product<A, B, Out>& p, Epilogue finish) {
  const dim3 grid = tiles_for(p.m, p.n, kTile, kTile);
  const bool aligned_a = p.a.is_vectorizable(kRun);
  const bool aligned_b = p.b.is_vectorizable(kRun);
  const bool aligned_c = can_store_vector(p.c, p.n, 4);
  return [=, stream = stream_of(queue)] {
    multiply<kLayout><<<grid, kTile, 0, stream>>>(p, finish, aligned_a, aligned_b, aligned_c);
  };
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  return with_layout(shape.layout(), [&](auto layout) {
    return launch<layout>(queue, Product(shape, a, b, c), Plain{});
  });
}

template <class A, class B, class Out>
Launch bind_gelu(Queue& queue, const Shape& shape, const A* a, const B* b, const Out* bias,
                 Out* c) {
  return launch<Layout::nt>(queue, Product(shape, a, b, c), BiasGelu<Out>{bias});
}

Technique technique(std::string_view operation, double approximation_error = 0) {
  return {.operation = operation,
          .name = "register_tile",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .approximation_error = approximation_error};
}

const Registration register_tile{
    technique("matmul"),          bind<float, float, float>,    bind<Tf32, Tf32, Tf32>,
    bind<Fp16, Fp16, Fp16>,       bind<Bf16, Bf16, Bf16>,       bind<Fp8E4m3, Fp8E4m3, Bf16>,
    bind<Fp8E5m2, Fp8E5m2, Bf16>, bind<Fp8E4m3, Fp8E5m2, Bf16>, bind<Fp8E5m2, Fp8E4m3, Bf16>};

const Registration register_tile_gelu{technique("matmul_gelu", kGeluExp2Error),
                                      bind_gelu<float, float, float>, bind_gelu<Tf32, Tf32, Tf32>};

const Registration register_tile_gelu_narrow{technique("matmul_gelu", kGeluTanhError),
                                             bind_gelu<Fp16, Fp16, Fp16>,
                                             bind_gelu<Bf16, Bf16, Bf16>,
                                             bind_gelu<Fp8E4m3, Fp8E4m3, Bf16>,
                                             bind_gelu<Fp8E5m2, Fp8E5m2, Bf16>,
                                             bind_gelu<Fp8E4m3, Fp8E5m2, Bf16>,
                                             bind_gelu<Fp8E5m2, Fp8E4m3, Bf16>};

}  // namespace
}  // namespace ridgebench::cuda
