// The persistent kernel of wgmma_persistent.cuh in fp8. `_fast_accum` leaves a sum in the tensor
// cores, and `_promoted` moves it to fp32 every 128 of k; they correspond to cuBLASLt with and
// without its FAST_ACCUM. GeLU is promoted, as is cuBLASLt's default.
#include "kernels/matmul/hopper/wgmma_persistent.cuh"

namespace ridgebench::cuda {
namespace {

const auto fast = persistent_registrations<FastTiles, false>(
    persistent_technique("matmul", "wgmma_persistent_fast_accum", kFp8SumError, 0),
    "wgmma_tuned_fast_accum", Fp8Products{});
const auto promoted = persistent_registrations<PromotedTiles, false>(
    persistent_technique("matmul", "wgmma_persistent_promoted", kFp8PromotedError, 0),
    "wgmma_tuned_promoted", Fp8Products{});

const auto gelu_promoted = persistent_registrations<PromotedTiles, true>(
    persistent_technique("matmul_gelu", "wgmma_persistent_promoted", kFp8PromotedError,
                         kGeluTanhError),
    "wgmma_tuned_promoted", Fp8Products{});

}  // namespace
}  // namespace ridgebench::cuda
