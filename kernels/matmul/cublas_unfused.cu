// Bias and GeLU the way that fusion replaces: cuBLASLt's product writes C, and a second kernel
// reads C, adds the bias, and writes C again. `cublas` and `wgmma_persistent` save the time of that
// kernel, 2 m n elements at the memory's bandwidth. C is also rounded once more here.
#include "kernels/common/cuda/lib/cublaslt.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/fp8_accumulation.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda::matmul_cublas_unfused {

constexpr int kThreads = 256;

// In place: a row of blocks per row of C, a vector of neighbours per thread.
template <class Out>
__global__ void __launch_bounds__(kThreads)
    matmul_gelu_unfused_epilogue(Out* c, BiasGelu<Out> gelu, std::int64_t n) {
  const std::int64_t column =
      (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVectorElements<Out>;
  if (column >= n) return;
  Out* const row = c + std::int64_t{blockIdx.y} * n;
  Vec16<Out> vector = load_vector(row, column / kVectorElements<Out>);
#pragma unroll
  for (int i = 0; i < kVectorElements<Out> / 2; ++i) {
    Pair<Out>& pair = vector.pair[i];
    const auto finish = [&](Out sum, std::int64_t j) {
      return from_float<Out>(gelu(to_float(sum), gelu.bias_of(j, n)));
    };
    pair.first = finish(pair.first, column + 2 * i);
    pair.second = finish(pair.second, column + 2 * i + 1);
  }
  store_vector(row, column / kVectorElements<Out>, vector);
}

template <class P>
LtProduct prepare(Queue& queue, const Shape& shape) {
  LtProduct product(queue, shape, P::formats, {});
  product.choose(product.algorithms(1).front());
  return product;
}

template <class P>
Launch bind(Queue& queue, const LtProduct& product, const Shape& shape, const typename P::A* a,
            const typename P::B* b, const typename P::Out* bias, typename P::Out* c) {
  using Out = typename P::Out;
  require_aligned(c);
  const std::int64_t n = shape["n"];
  const dim3 blocks = tiles_for(shape["m"], n, 1, kThreads * kVectorElements<Out>);
  return [multiply = product.bind(a, b, nullptr, c), blocks, stream = stream_of(queue),
          gelu = BiasGelu<Out>{bias}, c, n] {
    multiply();
    matmul_gelu_unfused_epilogue<<<blocks, kThreads, 0, stream>>>(c, gelu, n);
  };
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair format) {
  if (const auto reason = LtProduct::supports(machine, shape, format)) return reason;
  const int elements = kVectorBytes / info(product_format(format)).storage_bytes;
  if (shape["n"] % elements != 0) return "rows of C are not multiples of 16 bytes";
  return tile_grid_limit(shape["m"], shape["n"], 1, kThreads * elements);
}

template <class P>
Technique technique() {
  constexpr bool fp32 = P::formats == FormatPair(Format::fp32);
  return {.operation = "matmul_gelu",
          .name = "cublas_unfused",
          .engine = fp32 ? Engine::fma : Engine::tensor,
          .origin = Origin::library,
          .supports = supports,
          .accumulation_error = kIsFp8<typename P::A> ? kFp8PromotedError : 0,
          .approximation_error = kGeluError<typename P::Out> + (fp32 ? 0 : kRoundedBeforeGelu)};
}

const Registration cublas_unfused{[]<class P>() { return technique<P>(); },
                                  Fp32Products{} + HalfProducts{} + Types<ProductTypes<Fp8E4m3>>{},
                                  []<class P>() { return planned(prepare<P>, bind<P>); }};

}  // namespace ridgebench::cuda::matmul_cublas_unfused
