// The persistent product (wgmma_persistent.cuh) with bias and GeLU on its sums before they are
// rounded and stored: what another kernel would have to read and write again costs some
// instructions here. fp8 adds up as cuBLASLt does by default, promoted.
#include "kernels/common/cuda/fp8_accumulation.cuh"
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/matmul/hopper/wgmma_instances.cuh"

namespace ridgebench::cuda {
namespace {

constexpr std::string_view kOperation = "matmul_gelu";

template <bool kTuned>
Registration tf32(std::string_view name) {
  return Registration(wgmma_technique(kOperation, name, kGeluExp2Error),
                      product_gelu<FastInstances, kTuned, Tf32, Tf32, Tf32>());
}

template <bool kTuned>
Registration half(std::string_view name) {
  return Registration(wgmma_technique(kOperation, name, kGeluTanhError),
                      product_gelu<FastInstances, kTuned, Fp16, Fp16, Fp16>(),
                      product_gelu<FastInstances, kTuned, Bf16, Bf16, Bf16>());
}

template <bool kTuned>
Registration fp8(std::string_view name) {
  return Registration(wgmma_technique(kOperation, name, kGeluTanhError + kFp8PromotedError),
                      product_gelu<PromotedInstances, kTuned, Fp8E4m3, Fp8E4m3, Bf16>(),
                      product_gelu<PromotedInstances, kTuned, Fp8E5m2, Fp8E5m2, Bf16>(),
                      product_gelu<PromotedInstances, kTuned, Fp8E4m3, Fp8E5m2, Bf16>(),
                      product_gelu<PromotedInstances, kTuned, Fp8E5m2, Fp8E4m3, Bf16>());
}

const Registration persistent[] = {tf32<false>("wgmma_persistent"), half<false>("wgmma_persistent"),
                                   fp8<false>("wgmma_persistent_promoted")};
const Registration tuned[] = {tf32<true>("wgmma_tuned"), half<true>("wgmma_tuned"),
                              fp8<true>("wgmma_tuned_promoted")};

}  // namespace
}  // namespace ridgebench::cuda
