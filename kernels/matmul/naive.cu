// Matrix product by its definition, one thread per element of C. Neighbouring threads of a warp
// take neighbouring rows: in layout nt each load of A touches 32 rows and each store to C too, so
// that the L1 cache moves 32 bytes or more for every number it hands over. The limit is its
// bandwidth, far below any roof. The fused form adds the bias and applies GeLU before storing.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/tile/epilogue.cuh"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda {
namespace {

constexpr int kRows = kWarp;
constexpr int kColumns = 8;

template <class A, class B, class Out, class Epilogue>
__global__ void multiply(Product<A, B, Out> p, Epilogue finish) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kRows + threadIdx.x;
  const std::int64_t j = std::int64_t{blockIdx.y} * kColumns + threadIdx.y;
  if (i >= p.m || j >= p.n) return;
  float sum = 0;
  for (std::int64_t q = 0; q < p.k; ++q) sum += to_float(p.a(i, q)) * to_float(p.b(j, q));
  p.c[i * p.n + j] = from_float<Out>(finish(sum, j));
}

template <class A, class B, class Out, class Epilogue>
Launch launch(const Queue& queue, const Product<A, B, Out>& product, Epilogue finish) {
  const dim3 grid = tiles_for(product.n, product.m, kColumns, kRows);  // columns of C along y
  return [product, finish, grid, stream = stream_of(queue)] {
    multiply<<<grid, dim3(kRows, kColumns), 0, stream>>>(product, finish);
  };
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  return launch(queue, Product(shape, a, b, c), Plain{});
}

template <class A, class B, class Out>
Launch bind_gelu(Queue& queue, const Shape& shape, const A* a, const B* b, const Out* bias,
                 Out* c) {
  return launch(queue, Product(shape, a, b, c), BiasGelu<Out>{bias});
}

Technique technique(std::string_view operation, double approximation_error = 0) {
  return {.operation = operation,
          .name = "naive",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .pace = Pace::naive,
          .approximation_error = approximation_error};
}

const Registration naive{technique("matmul"),          bind<float, float, float>,
                         bind<Tf32, Tf32, Tf32>,       bind<Tf32x3, Tf32x3, Tf32x3>,
                         bind<Fp16, Fp16, Fp16>,       bind<Bf16, Bf16, Bf16>,
                         bind<Fp8E4m3, Fp8E4m3, Bf16>, bind<Fp8E5m2, Fp8E5m2, Bf16>,
                         bind<Fp8E4m3, Fp8E5m2, Bf16>, bind<Fp8E5m2, Fp8E4m3, Bf16>};

const Registration naive_gelu{technique("matmul_gelu", kGeluExp2Error),
                              bind_gelu<float, float, float>, bind_gelu<Tf32, Tf32, Tf32>};

const Registration naive_gelu_narrow{technique("matmul_gelu", kGeluTanhError),
                                     bind_gelu<Fp16, Fp16, Fp16>,
                                     bind_gelu<Bf16, Bf16, Bf16>,
                                     bind_gelu<Fp8E4m3, Fp8E4m3, Bf16>,
                                     bind_gelu<Fp8E5m2, Fp8E5m2, Bf16>,
                                     bind_gelu<Fp8E4m3, Fp8E5m2, Bf16>,
                                     bind_gelu<Fp8E5m2, Fp8E4m3, Bf16>};

}  // namespace
}  // namespace ridgebench::cuda
