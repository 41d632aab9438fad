// The naive kernel with rows and columns exchanged: neighbouring threads of a warp take
// neighbouring columns of C. Its stores, and in layouts nn and tn its loads of B, are then 32
// neighbours in memory, one request for few sectors, while A's number is one for the whole warp. In
// nt the columns of B are rows in memory: the stores gain, the loads do not. Either way each
// multiply-add still asks the L1 cache for two numbers, and its bandwidth is the limit.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda {
namespace {

constexpr int kRows = 8;
constexpr int kColumns = kWarp;

template <class A, class B, class Out>
__global__ void multiply(Product<A, B, Out> p) {
  const std::int64_t i = std::int64_t{blockIdx.y} * kRows + threadIdx.y;
  const std::int64_t j = std::int64_t{blockIdx.x} * kColumns + threadIdx.x;
  if (i >= p.m || j >= p.n) return;
  float sum = 0;
  for (std::int64_t q = 0; q < p.k; ++q) sum += to_float(p.a(i, q)) * to_float(p.b(j, q));
  p.c[i * p.n + j] = from_float<Out>(sum);
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  const Product product(shape, a, b, c);
  const dim3 grid = tiles_for(product.m, product.n, kRows, kColumns);
  return [product, grid, stream = stream_of(queue)] {
    multiply<<<grid, dim3(kColumns, kRows), 0, stream>>>(product);
  };
}

const Registration coalesced{{.operation = "matmul",
                              .name = "coalesced",
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
