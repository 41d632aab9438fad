// Matrix product by cuBLASLt, the yardstick of every format but fp8_e5m2 with itself, which it does
// not multiply. Sums are kept in fp32. The fp8 tensor cores keep fewer bits: by default the library
// moves their sums to fp32 on the way, with `_fast_accum` it does not.
#include "kernels/matmul/cublas.cuh"

namespace ridgebench::cuda {
namespace {

template <class A, class B, class Out>
Launch bind(Queue& /*queue*/, const LtProduct& product, const Shape& /*shape*/, const A* a,
            const B* b, Out* c) {
  return product.bind(a, b, nullptr, c);
}

template <class A, class B, class Out, bool kTuned, bool kFast = false>
auto product() {
  return planned(prepare<A, B, Out, false, kTuned, kFast>, bind<A, B, Out>);
}

constexpr Technique technique(std::string_view name, Engine engine, double error = 0) {
  return cublas_technique("matmul", name, engine, error);
}

template <bool kTuned>
Registration fp32(std::string_view name) {
  return Registration(technique(name, Engine::fma), product<float, float, float, kTuned>());
}

template <bool kTuned>
Registration tensor(std::string_view name) {
  return Registration(technique(name, Engine::tensor), product<Tf32, Tf32, Tf32, kTuned>(),
                      product<Fp16, Fp16, Fp16, kTuned>(), product<Bf16, Bf16, Bf16, kTuned>());
}

template <bool kTuned, bool kFast>
Registration fp8(std::string_view name) {
  return Registration(technique(name, Engine::tensor, kFast ? kFp8SumError : kFp8PromotedError),
                      product<Fp8E4m3, Fp8E4m3, Bf16, kTuned, kFast>(),
                      product<Fp8E4m3, Fp8E5m2, Bf16, kTuned, kFast>(),
                      product<Fp8E5m2, Fp8E4m3, Bf16, kTuned, kFast>());
}

const Registration cublas[] = {fp32<false>("cublas"), tensor<false>("cublas"),
                               fp8<false, false>("cublas"), fp8<false, true>("cublas_fast_accum")};
const Registration cublas_tuned[] = {fp32<true>("cublas_tuned"), tensor<true>("cublas_tuned"),
                                     fp8<true, false>("cublas_tuned"),
                                     fp8<true, true>("cublas_tuned_fast_accum")};

}  // namespace
}  // namespace ridgebench::cuda
