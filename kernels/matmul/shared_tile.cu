// The threads of a block share what they load: the block copies a 32 x 32 tile of A and one of B
// into shared memory, widened to fp32, multiplies them, and moves on along k. Each element from L2
// serves 32 multiply-adds, and every layout is read along its rows in memory. Now each multiply-add
// loads two elements from shared memory, one of them the same for the whole warp. An SM serves one
// such request of a warp per clock, so the limit is half a warp of multiply-adds, an eighth of the
// FMA units.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda::matmul_shared_tile {

constexpr int kTile = 32;  // M, N and K
// One column of padding: a tile is read and written in either direction without bank conflicts.
constexpr int kPitch = kTile + 1;

// Loads tile[row][k] from the element (first_row, first_k) on, zeros beyond the operand's edges.
// Neighbouring threads load neighbours in memory, in either layout.
template <class T>
__device__ void load_tile(float (&tile)[kTile][kPitch], const MatrixOperand<T>& x,
                          std::int64_t first_row, std::int64_t first_k) {
  const int row = static_cast<int>(x.is_k_major() ? threadIdx.y : threadIdx.x);
  const int k = static_cast<int>(x.is_k_major() ? threadIdx.x : threadIdx.y);
  const bool inside = first_row + row < x.mn && first_k + k < x.k;
  tile[row][k] = inside ? to_float(x(first_row + row, first_k + k)) : 0.0F;
}

template <class A, class B, class Out>
__global__ void __launch_bounds__(kTile* kTile) matmul_shared_tile(Product<A, B, Out> product) {
  __shared__ float a[kTile][kPitch];
  __shared__ float b[kTile][kPitch];
  const std::int64_t tile_m = std::int64_t{blockIdx.y} * kTile;
  const std::int64_t tile_n = std::int64_t{blockIdx.x} * kTile;
  float sum = 0;
  for (std::int64_t tile_k = 0; tile_k < product.k; tile_k += kTile) {
    load_tile(a, product.a, tile_m, tile_k);
    load_tile(b, product.b, tile_n, tile_k);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += a[threadIdx.y][k] * b[threadIdx.x][k];
    __syncthreads();  // the next tiles overwrite these
  }
  const std::int64_t m = tile_m + threadIdx.y;
  const std::int64_t n = tile_n + threadIdx.x;
  if (m < product.m && n < product.n) product.c[m * product.n + n] = from_float<Out>(sum);
}

template <class P>
Launch bind(Queue& queue, const Shape& shape, const typename P::A* a, const typename P::B* b,
            typename P::Out* c) {
  const Product product(shape, a, b, c);
  const dim3 grid = tiles_for(product.m, product.n, kTile, kTile);
  return [product, grid, stream = stream_of(queue)] {
    matmul_shared_tile<<<grid, dim3(kTile, kTile), 0, stream>>>(product);
  };
}

const Registration shared_tile{{.operation = "matmul",
                                .name = "shared_tile",
                                .engine = Engine::fma,
                                .arithmetic = Format::fp32,
                                .pace = Pace::naive,
                                .supports = supports_tiles<kTile, kTile>},
                               AllProducts{},
                               []<class P>() { return bind<P>; }};

}  // namespace ridgebench::cuda::matmul_shared_tile
