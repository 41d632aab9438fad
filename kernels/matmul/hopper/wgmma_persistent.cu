// The top of the ladder: the persistent kernel of wgmma_persistent.cuh in tf32 and in 16 bits,
// plain and with bias and GeLU in the epilogue. `wgmma_persistent` takes the tile that arithmetic
// suggests, `wgmma_tuned` the fastest, as `cublas` and `cublas_tuned` do.
#include "kernels/matmul/hopper/wgmma_persistent.cuh"

namespace ridgebench::cuda {
namespace {

const auto persistent = persistent_registrations<FastTiles, false>(
    persistent_technique("matmul", "wgmma_persistent", 0, 0), "wgmma_tuned",
    Tf32Products{} + HalfProducts{});

const auto gelu_tf32 = persistent_registrations<FastTiles, true>(
    persistent_technique("matmul_gelu", "wgmma_persistent", 0, kGeluExp2Error), "wgmma_tuned",
    Tf32Products{});
const auto gelu_half = persistent_registrations<FastTiles, true>(
    persistent_technique("matmul_gelu", "wgmma_persistent", 0, kGeluTanhError), "wgmma_tuned",
    HalfProducts{});

}  // namespace
}  // namespace ridgebench::cuda
