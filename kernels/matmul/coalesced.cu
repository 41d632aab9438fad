// The naive kernel with rows and columns exchanged: neighbouring threads of a warp take
// neighbouring columns of C. Their stores, and in layouts nn and tn their loads of B, are then
// contiguous, one request for few sectors, and the whole warp loads the same element of A. In nt
// the columns of B are rows in memory, so only the stores gain. Either way each multiply-add loads
// two elements from the L1 cache, and its bandwidth is the limit.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda::matmul_coalesced {

constexpr int kTileM = 8;
constexpr int kTileN = kWarp;

template <class A, class B, class Out>
__global__ void matmul_coalesced(Product<A, B, Out> product) {
  const std::int64_t m = std::int64_t{blockIdx.y} * kTileM + threadIdx.y;
  const std::int64_t n = std::int64_t{blockIdx.x} * kTileN + threadIdx.x;
  if (m >= product.m || n >= product.n) return;
  float sum = 0;
  for (std::int64_t k = 0; k < product.k; ++k) {
    sum += to_float(product.a(m, k)) * to_float(product.b(n, k));
  }
  product.c[m * product.n + n] = from_float<Out>(sum);
}

template <class P>
Launch bind(Queue& queue, const Shape& shape, const typename P::A* a, const typename P::B* b,
            typename P::Out* c) {
  const Product product(shape, a, b, c);
  const dim3 grid = tiles_for(product.m, product.n, kTileM, kTileN);
  return [product, grid, stream = stream_of(queue)] {
    matmul_coalesced<<<grid, dim3(kTileN, kTileM), 0, stream>>>(product);
  };
}

const Registration coalesced{{.operation = "matmul",
                              .name = "coalesced",
                              .engine = Engine::fma,
                              .arithmetic = Format::fp32,
                              .pace = Pace::naive,
                              .supports = supports_tiles<kTileM, kTileN>},
                             AllProducts{},
                             []<class P>() { return bind<P>; }};

}  // namespace ridgebench::cuda::matmul_coalesced
