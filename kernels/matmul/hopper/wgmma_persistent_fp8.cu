// The top of the ladder in fp8 (wgmma_persistent.cuh), with both ways of adding up: with
// `_fast_accum` a sum stays in the tensor cores, which keep 13 bits of it; with `_promoted` it
// moves to fp32 every 128 of k. They correspond to cuBLASLt with and without its FAST_ACCUM.
#include "kernels/common/cuda/fp8_accumulation.cuh"
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/matmul/hopper/wgmma_instances.cuh"

namespace ridgebench::cuda {
namespace {

template <class List, bool kTuned>
Registration registration(std::string_view name, double error) {
  return Registration(wgmma_technique("matmul", name, error),
                      product<List, kTuned, Fp8E4m3, Fp8E4m3, Bf16>(),
                      product<List, kTuned, Fp8E5m2, Fp8E5m2, Bf16>(),
                      product<List, kTuned, Fp8E4m3, Fp8E5m2, Bf16>(),
                      product<List, kTuned, Fp8E5m2, Fp8E4m3, Bf16>());
}

const Registration fast[] = {
    registration<FastInstances, false>("wgmma_persistent_fast_accum", kFp8SumError),
    registration<FastInstances, true>("wgmma_tuned_fast_accum", kFp8SumError)};
const Registration promoted[] = {
    registration<PromotedInstances, false>("wgmma_persistent_promoted", kFp8PromotedError),
    registration<PromotedInstances, true>("wgmma_tuned_promoted", kFp8PromotedError)};

}  // namespace
}  // namespace ridgebench::cuda
