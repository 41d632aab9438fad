// The top of the ladder in tf32, fp16 and bf16: a persistent grid of clusters, explained in
// wgmma_persistent.cuh. `wgmma_persistent` takes the tile that arithmetic suggests, `wgmma_tuned`
// the fastest of all, as `cublas` and `cublas_tuned` do.
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/matmul/hopper/wgmma_instances.cuh"

namespace ridgebench::cuda {
namespace {

template <bool kTuned>
Registration registration(std::string_view name) {
  return Registration(wgmma_technique("matmul", name),
                      product<FastInstances, kTuned, Tf32, Tf32, Tf32>(),
                      product<FastInstances, kTuned, Fp16, Fp16, Fp16>(),
                      product<FastInstances, kTuned, Bf16, Bf16, Bf16>());
}

const Registration persistent = registration<false>("wgmma_persistent");
const Registration tuned = registration<true>("wgmma_tuned");

}  // namespace
}  // namespace ridgebench::cuda
