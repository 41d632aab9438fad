// Ceilings of tensor engines whose A is sparse (2:4): of each four numbers along k, two are stored
// and the others are zero. tensor_sparse_peak and wgmma_sparse_peak add up products as products.hpp
// describes, with B of n x k and A of m x k, of which k / 2 numbers of a row are stored.
//
// FLOPs are those of the stored numbers. Data sheets count the zeros, too, and print twice as much
// "with sparsity"; the share of the peak is the same by either count. These ceilings are no roof,
// because no kernel of the suite multiplies sparse matrices.
#pragma once

#include "kernels/ceilings/products.hpp"
#include "kernels/common/cuda/ptx/sparse.hpp"

namespace ridgebench {

// With three blocks, each would have too few registers for accumulators and metadata.
inline constexpr int kSparseBlocksPerSm = 2;

namespace sparse_detail {

inline void reference(const Shape& s, std::int64_t row, std::span<const View> in,
                      std::span<Expected> out) {
  const std::int64_t stored = s["k"] / 2;
  const auto times = static_cast<double>(s["iterations"]);
  for (std::size_t e = 0; e < out.size(); ++e) {
    const auto element = static_cast<std::int64_t>(e);
    const std::int64_t a = (row * s["m"] + element / s["n"]) * stored;
    const std::int64_t b = (row * s["n"] + element % s["n"]) * s["k"];
    double sum = 0;
    double magnitude = 0;
    for (std::int64_t p = 0; p < stored; ++p) {
      const double term = in[0][a + p] * in[1][b + cuda::sparse_place(p)];
      sum += term;
      magnitude += std::abs(term);
    }
    out[e] = {times * sum, times * magnitude};  // the 1-norm, as of dense products
  }
}

// `tile.k` counts the zeros.
inline Operation sparse(const std::string& name, TileSize tile, std::int64_t tiles,
                        std::int64_t iterations, std::vector<FormatPair> formats) {
  Operation op =
      products_detail::products(name,
                                {.resource = Resource::tensor,
                                 .most_per_clock = products_detail::tensor_flops_per_clock,
                                 .sweep = true},
                                std::move(formats), tile, tiles, iterations);
  op.flops = [dense = op.flops](const Shape& s) { return dense(s) / 2; };
  op.operands = [dense = op.operands](const Shape& s, FormatPair f) {
    std::vector<Operand> operands = dense(s, f);
    operands[0].elements = s["tiles"] * s["m"] * (s["k"] / 2);
    return operands;
  };
  op.reference = reference;
  op.reduction = [dense = op.reduction](const Shape& s) { return dense(s) / 2; };
  op.shapes = [all = op.shapes](Profile profile, Pace pace, const Machine& machine) {
    const bool measured = machine.compute_capability > 0 && at_least_standard(profile);
    return measured ? all(profile, pace, machine) : std::vector<Shape>();
  };
  return op;
}

constexpr TileSize twice_as_deep(TileSize tile) { return {tile.m, tile.n, 2 * tile.k}; }

}  // namespace sparse_detail

inline constexpr TileSize kSparseTile = sparse_detail::twice_as_deep(kTensorTile);
inline constexpr TileSize kSparseWarpgroupTile = sparse_detail::twice_as_deep(kWarpgroupTile);

inline const RegisterOperation tensor_sparse_peak{sparse_detail::sparse(
    "tensor_sparse_peak", kSparseTile, 512, kProductIterations, {Format::fp16, Format::bf16})};
inline const RegisterOperation wgmma_sparse_peak{sparse_detail::sparse(
    "wgmma_sparse_peak", kSparseWarpgroupTile, kSparseBlocksPerSm, kWgmmaIterations,
    {Format::fp16, Format::bf16, Format::fp8_e4m3, Format::fp8_e5m2})};

}  // namespace ridgebench
