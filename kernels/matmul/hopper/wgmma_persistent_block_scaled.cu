// The persistent kernel of wgmma_persistent.cuh in fp8 with block scales: the promoted form, which
// multiplies the sums of 128 of k by their scales where it adds them in fp32 (block_scales.cuh).
// The limit is the promoted product's: tensor cores and power.
//   ridgebench run --op matmul_block_scaled --technique wgmma_block_scaled
#include "kernels/matmul/hopper/block_scales.cuh"

namespace ridgebench::cuda {
namespace {

static_assert(kBlockK<Fp8E4m3> == Fp32Scales::kBlock, "a stage has one scale");

// As supports_persistent, whose reasons name a technique that this operation does not have.
std::optional<std::string> supports_block_scaled(const Machine& machine, const Shape& shape,
                                                 FormatPair formats) {
  if (auto reason = supports_wgmma(machine, shape, formats)) return reason;
  if (shape["k"] % kTmaRowAlignment != 0 ||
      shape["n"] * static_cast<std::int64_t>(sizeof(Bf16)) % kTmaRowAlignment != 0) {
    return "TMA takes rows of multiples of 16 bytes: k a multiple of 16, n of 8; naive serves "
           "others";
  }
  return supports_persistent(machine, shape, formats);
}

Launch bind_block_scaled(Queue& queue, const ChosenTile& choice, const Shape& shape,
                         const Fp8E4m3* a, const Fp8E4m3* b, const float* scale_a,
                         const float* scale_b, Bf16* c) {
  const BlockScales scales{scale_a, scale_b, shape["m"], shape["k"]};
  return bind_choice<PromotedTiles, Layout::nt>(queue, Product(shape, a, b, c), choice, scales);
}

Technique block_scaled_technique() {
  Technique scaled =
      persistent_technique("matmul_block_scaled", "wgmma_block_scaled", kFp8PromotedError, 0);
  scaled.supports = supports_block_scaled;
  return scaled;
}

const Registration block_scaled{
    block_scaled_technique(), planned(prepare_choice<PromotedTiles, false, Fp8E4m3, Fp8E4m3, Bf16>,
                                      bind_block_scaled, all_choices<PromotedTiles>)};

}  // namespace
}  // namespace ridgebench::cuda
