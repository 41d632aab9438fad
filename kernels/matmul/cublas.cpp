// Matrix product by cuBLASLt, the yardstick, alone and with bias and GeLU in its epilogue. `cublas`
// runs the algorithm that the library's heuristic returns first, `cublas_tuned` the fastest of its
// first 32 by measurement. A batch is one call of the library. Sums are kept in fp32. The fp8
// tensor cores keep fewer bits: by default the library moves their sums to fp32 on the way, with
// `_fast_accum` it does not.
#include <string>
#include <vector>

#include "kernels/common/cuda/lib/cublaslt.cuh"
#include "kernels/common/fp8_accumulation.hpp"
#include "kernels/common/gelu_error.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/block_scales.hpp"
#include "kernels/matmul/tile/tuning.hpp"

namespace ridgebench::cuda {
namespace {

template <class A, class B, class Out>
void tune(Queue& queue, const Shape& shape, LtProduct& product) {
  const std::vector<LtAlgorithm> candidates = product.algorithms(LtProduct::kMostAlgorithms);
  const auto algorithm = [&](int i) { return candidates[static_cast<std::size_t>(i)]; };
  const int best = fastest<A, B, Out>(queue, shape, static_cast<int>(candidates.size()),
                                      [&](int i, const A* a, const B* b, const Out* bias, Out* c) {
                                        product.choose(algorithm(i));
                                        return product.bind(a, b, bias, c);
                                      });
  product.choose(algorithm(best));
}

template <class P, bool kGelu, bool kTuned, bool kFast>
LtProduct prepare(Queue& queue, const Shape& shape) {
  LtProduct product(queue, shape, P::formats, {.fast_accumulation = kFast, .gelu = kGelu});
  product.choose(product.algorithms(1).front());
  if (kTuned) tune<typename P::A, typename P::B, typename P::Out>(queue, shape, product);
  return product;
}

template <class P>
Launch bind(Queue& /*queue*/, const LtProduct& product, const Shape& /*shape*/,
            const typename P::A* a, const typename P::B* b, typename P::Out* c) {
  return product.bind(a, b, nullptr, c);
}

template <class P>
Launch bind_gelu(Queue& /*queue*/, const LtProduct& product, const Shape& /*shape*/,
                 const typename P::A* a, const typename P::B* b, const typename P::Out* bias,
                 typename P::Out* c) {
  return product.bind(a, b, bias, c);
}

// The library does not document how it evaluates the tanh of its epilogue; tanh.approx is assumed.
// Where rows are not multiples of 16 bytes, bf16 results on an H100 were rounded before it.
template <class P, bool kGelu>
Technique technique(const std::string& name, bool fast) {
  constexpr bool fp8 = sizeof(typename P::A) == 1;
  constexpr bool rounded = P::formats == FormatPair(Format::bf16);
  return {.operation = kGelu ? "matmul_gelu" : "matmul",
          .name = name,
          .engine = P::formats == FormatPair(Format::fp32) ? Engine::fma : Engine::tensor,
          .origin = Origin::library,
          .supports = LtProduct::supports,
          .accumulator_bits = fp8 && fast ? kFp8SumBits : 0,
          .accumulation_error = !fp8   ? 0
                                : fast ? kFp8SumError
                                       : kFp8PromotedError,
          .approximation_error = kGelu ? kGeluTanhError + (rounded ? kRoundedBeforeGelu : 0) : 0,
          .optional_dimensions = true};
}

template <bool kGelu, bool kTuned, bool kFast, class... P>
CudaRegistration registration(const std::string& name, Types<P...> products) {
  return CudaRegistration([=]<class Q>() { return technique<Q, kGelu>(name, kFast); }, products,
                          []<class Q>() {
                            constexpr auto* prepared = prepare<Q, kGelu, kTuned, kFast>;
                            if constexpr (kGelu) {
                              return planned(prepared, bind_gelu<Q>);
                            } else {
                              return planned(prepared, bind<Q>);
                            }
                          });
}

// cuBLASLt does not multiply fp8_e5m2 with itself.
constexpr Types<ProductTypes<Fp8E4m3>, ProductTypes<Fp8E4m3, Fp8E5m2>,
                ProductTypes<Fp8E5m2, Fp8E4m3>>
    kFp8;
constexpr auto kAll = Fp32Products{} + Tf32Products{} + HalfProducts{} + kFp8;

const CudaRegistration matmul[] = {
    registration<false, false, false>("cublas", kAll),
    registration<false, false, true>("cublas_fast_accum", kFp8),
    registration<false, true, false>("cublas_tuned", kAll),
    registration<false, true, true>("cublas_tuned_fast_accum", kFp8)};
const CudaRegistration matmul_gelu[] = {
    registration<true, false, false>("cublas", kAll),
    registration<true, false, true>("cublas_fast_accum", kFp8),
    registration<true, true, false>("cublas_tuned", kAll),
    registration<true, true, true>("cublas_tuned_fast_accum", kFp8)};

template <class Scales, LtScales kScales>
LtProduct prepare_block_scaled(Queue& queue, const Shape& shape) {
  LtProduct product(queue, shape, FormatOf<typename Scales::Number>::value, {.scales = kScales});
  product.choose(product.algorithms(1).front());
  return product;
}

template <class Scales>
Launch bind_block_scaled(Queue& /*queue*/, const LtProduct& product, const Shape& /*shape*/,
                         const typename Scales::Number* a, const typename Scales::Number* b,
                         const typename Scales::Scale* scale_a,
                         const typename Scales::Scale* scale_b, Bf16* c) {
  return product.bind(a, b, nullptr, c, {scale_a, scale_b});
}

Technique block_scaled_technique(const std::string& operation, const Supports& supports) {
  return {.operation = operation,
          .name = "cublas",
          .engine = Engine::tensor,
          .origin = Origin::library,
          .supports = supports,
          .accumulation_error = kFp8PromotedError};
}

const CudaRegistration block_scaled{
    block_scaled_technique("matmul_block_scaled", LtProduct::supports_block_scaled),
    planned(prepare_block_scaled<Fp32Scales, LtScales::fp32_of_128>,
            bind_block_scaled<Fp32Scales>)};
const CudaRegistration mxfp8{
    block_scaled_technique("matmul_mxfp8", LtProduct::supports_tiled_scales),
    planned(prepare_block_scaled<Mxfp8, LtScales::ue8m0_of_32>, bind_block_scaled<Mxfp8>)};
const CudaRegistration nvfp4{
    block_scaled_technique("matmul_nvfp4", LtProduct::supports_tiled_scales),
    planned(prepare_block_scaled<Nvfp4, LtScales::ue4m3_of_16>, bind_block_scaled<Nvfp4>)};

}  // namespace
}  // namespace ridgebench::cuda
