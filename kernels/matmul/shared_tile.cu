// The block shares what it loads: it copies a 32 x 32 tile of A and one of B into shared memory,
// widened to fp32, multiplies them, and moves on along k. Each number fetched from L2 serves 32
// multiply-adds, and every layout is read along its rows in memory. Now each multiply-add asks
// shared memory for two numbers, one of them the same for the whole warp. A clock serves one such
// request of a warp, so that the limit is half a warp of multiply-adds, an eighth of the FMA units.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda {
namespace {

constexpr int kTile = 32;
// One column more, so that a tile is read and written along either direction without bank
// conflicts.
constexpr int kPitch = kTile + 1;

// Numbers p0.. of vectors first.. as tile[vector][p], zeros beyond the operand's edges.
// Neighbouring threads load neighbours in memory, whichever way the operand lies.
template <class T>
__device__ void load_tile(float (&tile)[kTile][kPitch], const MatrixOperand<T>& x,
                          std::int64_t first, std::int64_t p0) {
  const int vector = static_cast<int>(x.is_k_major() ? threadIdx.y : threadIdx.x);
  const int p = static_cast<int>(x.is_k_major() ? threadIdx.x : threadIdx.y);
  const bool inside = first + vector < x.mn && p0 + p < x.k;
  tile[vector][p] = inside ? to_float(x(first + vector, p0 + p)) : 0.0F;
}

template <class A, class B, class Out>
__global__ void __launch_bounds__(kTile* kTile) multiply(Product<A, B, Out> product) {
  __shared__ float a[kTile][kPitch];
  __shared__ float b[kTile][kPitch];
  const std::int64_t row = std::int64_t{blockIdx.y} * kTile;
  const std::int64_t column = std::int64_t{blockIdx.x} * kTile;
  float sum = 0;
  for (std::int64_t p0 = 0; p0 < product.k; p0 += kTile) {
    load_tile(a, product.a, row, p0);
    load_tile(b, product.b, column, p0);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kTile; ++p) sum += a[threadIdx.y][p] * b[threadIdx.x][p];
    __syncthreads();  // the next tiles overwrite these
  }
  const std::int64_t i = row + threadIdx.y;
  const std::int64_t j = column + threadIdx.x;
  if (i < product.m && j < product.n) product.c[i * product.n + j] = from_float<Out>(sum);
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  const Product product(shape, a, b, c);
  const dim3 grid = tiles_for(product.m, product.n, kTile, kTile);
  return [product, grid, stream = stream_of(queue)] {
    multiply<<<grid, dim3(kTile, kTile), 0, stream>>>(product);
  };
}

const Registration shared_tile{{.operation = "matmul",
                                .name = "shared_tile",
                                .engine = Engine::fma,
                                .arithmetic = Format::fp32,
                                .pace = Pace::naive},
                               bind<float, float, float>,
                               bind<Tf32, Tf32, Tf32>,
                               bind<Fp16, Fp16, Fp16>,
                               bind<Bf16, Bf16, Bf16>,
                               bind<Fp8E4m3, Fp8E4m3, Bf16>,
                               bind<Fp8E5m2, Fp8E5m2, Bf16>,
                               bind<Fp8E4m3, Fp8E5m2, Bf16>,
                               bind<Fp8E5m2, Fp8E4m3, Bf16>};

}  // namespace
}  // namespace ridgebench::cuda
