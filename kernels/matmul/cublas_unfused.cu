// Bias and GeLU the way that fusion replaces: cuBLASLt's product writes C, and a kernel of its own
// reads C, adds the bias, and writes C again. What `cublas` and `wgmma_persistent` save is the time
// of that kernel, 2 m n numbers at the memory's bandwidth; C is also rounded once more here.
#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/vec16.cuh"
#include "kernels/matmul/cublas.cuh"
#include "kernels/matmul/tile/epilogue.cuh"

namespace ridgebench::cuda {
namespace {

constexpr int kThreads = 256;

// In place: a row of blocks per row of C, a vector of neighbours per thread.
template <class Out>
__global__ void __launch_bounds__(kThreads) finish(Out* c, BiasGelu<Out> gelu, std::int64_t n) {
  const std::int64_t column =
      (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVectorElements<Out>;
  if (column >= n) return;
  Out* const row = c + std::int64_t{blockIdx.y} * n;
  Vec16<Out> vector = load_vector(row, column / kVectorElements<Out>);
#pragma unroll
  for (int i = 0; i < kVectorElements<Out> / 2; ++i) {
    Pair<Out>& pair = vector.pair[i];
    pair.first = from_float<Out>(gelu(to_float(pair.first), column + 2 * i));
    pair.second = from_float<Out>(gelu(to_float(pair.second), column + 2 * i + 1));
  }
  store_vector(row, column / kVectorElements<Out>, vector);
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const LtProduct& product, const Shape& shape, const A* a, const B* b,
            const Out* bias, Out* c) {
  const std::int64_t n = shape["n"];
  if (n % kVectorElements<Out> != 0) throw Unsupported("rows of C are not multiples of 16 bytes");
  require_aligned(c);
  const dim3 blocks = tiles_for(shape["m"], n, 1, kThreads * kVectorElements<Out>);
  return [multiply = product.bind(a, b, nullptr, c), blocks, stream = stream_of(queue),
          gelu = BiasGelu<Out>{bias}, c, n] {
    multiply();
    finish<<<blocks, kThreads, 0, stream>>>(c, gelu, n);
  };
}

template <class A, class B, class Out>
auto product() {
  return planned(prepare<A, B, Out, false, false, false>, bind<A, B, Out>);
}

constexpr Technique technique(Engine engine, double error) {
  return cublas_technique("matmul_gelu", "cublas_unfused", engine, error);
}

const Registration fp32{technique(Engine::fma, kGeluExp2Error), product<float, float, float>()};
const Registration half{technique(Engine::tensor, kGeluTanhError + kRoundedBeforeGelu),
                        product<Fp16, Fp16, Fp16>(), product<Bf16, Bf16, Bf16>()};
const Registration fp8{
    technique(Engine::tensor, kGeluTanhError + kRoundedBeforeGelu + kFp8PromotedError),
    product<Fp8E4m3, Fp8E4m3, Bf16>()};

}  // namespace
}  // namespace ridgebench::cuda
