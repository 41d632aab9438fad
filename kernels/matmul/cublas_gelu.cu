// Matrix product with bias and GeLU by cuBLASLt's epilogue GELU_BIAS, the tanh form. How it
// evaluates the tanh is not documented; tanh.approx is assumed. Where rows are not multiples of 16
// bytes, its bf16 results on an H100 have been rounded before the epilogue, too. Otherwise as
// cublas.cu.
#include "kernels/common/cuda/gelu.cuh"
#include "kernels/matmul/cublas.cuh"

namespace ridgebench::cuda {
namespace {

template <class A, class B, class Out>
Launch bind_gelu(Queue& /*queue*/, const LtProduct& product, const Shape& /*shape*/, const A* a,
                 const B* b, const Out* bias, Out* c) {
  return product.bind(a, b, bias, c);
}

template <class A, class B, class Out, bool kTuned, bool kFast = false>
auto product() {
  return planned(prepare<A, B, Out, true, kTuned, kFast>, bind_gelu<A, B, Out>);
}

constexpr Technique technique(std::string_view name, Engine engine, double error = 0) {
  return cublas_technique("matmul_gelu", name, engine, kGeluTanhError + error);
}

template <bool kTuned>
Registration fp32(std::string_view name) {
  return Registration(technique(name, Engine::fma), product<float, float, float, kTuned>());
}

template <bool kTuned>
Registration tensor(std::string_view name) {
  return Registration(technique(name, Engine::tensor), product<Tf32, Tf32, Tf32, kTuned>(),
                      product<Fp16, Fp16, Fp16, kTuned>());
}

template <bool kTuned>
Registration bf16(std::string_view name) {
  return Registration(technique(name, Engine::tensor, kRoundedBeforeGelu),
                      product<Bf16, Bf16, Bf16, kTuned>());
}

template <bool kTuned, bool kFast>
Registration fp8(std::string_view name) {
  return Registration(technique(name, Engine::tensor, kFast ? kFp8SumError : kFp8PromotedError),
                      product<Fp8E4m3, Fp8E4m3, Bf16, kTuned, kFast>(),
                      product<Fp8E4m3, Fp8E5m2, Bf16, kTuned, kFast>(),
                      product<Fp8E5m2, Fp8E4m3, Bf16, kTuned, kFast>());
}

const Registration cublas[] = {fp32<false>("cublas"), tensor<false>("cublas"),
                               bf16<false>("cublas"), fp8<false, false>("cublas"),
                               fp8<false, true>("cublas_fast_accum")};
const Registration cublas_tuned[] = {fp32<true>("cublas_tuned"), tensor<true>("cublas_tuned"),
                                     bf16<true>("cublas_tuned"), fp8<true, false>("cublas_tuned"),
                                     fp8<true, true>("cublas_tuned_fast_accum")};

}  // namespace
}  // namespace ridgebench::cuda
