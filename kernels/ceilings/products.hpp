// Ceilings of tensor engines, which multiply small matrices and add to fp32: tensor_peak and
// wgmma_peak; sweep/tensor_double.hpp has that of fp64. Each of `tiles` independent products is
// added up `iterations` times: y[t] = iterations A[t] B[t]^T, where A[t] is m x k, B[t] is n x k,
// y[t] is m x n, all row-major; y is fp32 in every format but fp64.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/cuda/tensor_instruction.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

// Adding one value again and again repeats its rounding error, up to iterations / 2 roundings in
// the end. No more iterations than keep that within the tolerance, 8 sqrt(iterations k) roundings.
inline constexpr std::int64_t kProductIterations = 256;
// Iterations of wgmma_peak: one wave of blocks runs for about a millisecond.
inline constexpr std::int64_t kWgmmaIterations = 8 * kProductIterations;
inline constexpr int kWgmmaBlocksPerSm = 3;

struct TileSize {
  std::int64_t m, n, k;
};
inline constexpr TileSize kTensorTile{.m = 32, .n = 32, .k = 32};
inline constexpr TileSize kWarpgroupTile{.m = 64, .n = 256, .k = 32};

namespace products_detail {

// `tiles` for each unit of the machine.
inline Operation products(const std::string& name, Ceiling ceiling, std::vector<FormatPair> formats,
                          TileSize tile, std::int64_t tiles, std::int64_t iterations) {
  Operation op;
  op.name = name;
  op.dimensions = {"tiles", "m", "n", "k", "iterations"};
  op.formats = std::move(formats);
  op.flops = [](const Shape& s) {
    return 2.0 * static_cast<double>(s["tiles"] * s["m"] * s["n"] * s["k"]) *
           static_cast<double>(s["iterations"]);
  };
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"a", s["tiles"] * s["m"] * s["k"], f.a},
            {"b", s["tiles"] * s["n"] * s["k"], f.b},
            {"y", s["tiles"] * s["m"] * s["n"], sum_format(f.a), Access::written}};
  };
  op.row_length = [](const Shape& s) { return s["m"] * s["n"]; };
  op.reference = [](const Shape& s, std::int64_t row, std::span<const View> in,
                    std::span<Expected> out) {
    const std::int64_t k = s["k"];
    const auto times = static_cast<double>(s["iterations"]);
    for (std::size_t e = 0; e < out.size(); ++e) {
      const auto element = static_cast<std::int64_t>(e);
      const std::int64_t a = (row * s["m"] + element / s["n"]) * k;
      const std::int64_t b = (row * s["n"] + element % s["n"]) * k;
      double sum = 0;
      double magnitude = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        const double term = in[0][a + p] * in[1][b + p];
        sum += term;
        magnitude += std::abs(term);
      }
      // Equal terms, whose rounding errors do not average out: the 1-norm.
      out[e] = {times * sum, times * magnitude};
    }
  };
  op.reduction = [](const Shape& s) { return static_cast<double>(s["k"] * s["iterations"]); };
  op.shapes = [=](Profile, Pace, const Machine& machine) -> std::vector<Shape> {
    return {Shape({{"tiles", tiles * machine.units},
                   {"m", tile.m},
                   {"n", tile.n},
                   {"k", tile.k},
                   {"iterations", iterations}})};
  };
  op.ceiling = ceiling;
  return op;
}

// Dense products of an SM's tensor cores with fp32 sums, in FLOPs per clock. Sources: "NVIDIA A100
// Tensor Core GPU Architecture", "NVIDIA H100 Tensor Core GPU Architecture", data sheets of L40S,
// RTX PRO 6000 Blackwell and B200; GeForce boards reach half of it.
inline double tensor_flops_per_clock(const Machine& machine, FormatPair format) {
  const auto of_16_bits = [&]() -> double {
    switch (machine.compute_capability) {
      case 80:
        return 2048;
      case 86:
      case 89:
      case 120:
        return 1024;
      case 90:
        return 4096;
      case 100:
      case 103:
        return 8192;
      default:
        return 0;
    }
  };
  if (format.a == Format::tf32) return of_16_bits() / 2;
  if (info(format.a).storage_bytes == 2) return of_16_bits();
  return machine.compute_capability >= 89 ? 2 * of_16_bits() : 0;  // fp8
}

}  // namespace products_detail

// For Technique::supports: why tiles of this size only cannot serve the shape.
inline std::optional<std::string> tile_limit(const Shape& shape, TileSize tile) {
  if (shape["m"] == tile.m && shape["n"] == tile.n && shape["k"] == tile.k) return std::nullopt;
  return "a tile has m = " + std::to_string(tile.m) + ", n = " + std::to_string(tile.n) +
         " and k = " + std::to_string(tile.k);
}

inline bool mma_sync_is_full_rate(const Machine& machine) {
  return tensor_instruction(machine) == "mma.sync";
}

// About a millisecond a unit, at 2048 multiply-adds per cycle.
inline const RegisterOperation tensor_peak{products_detail::products(
    "tensor_peak",
    {.resource = Resource::tensor, .most_per_clock = products_detail::tensor_flops_per_clock},
    {Format::tf32, Format::fp16, Format::bf16, Format::fp8_e4m3, Format::fp8_e5m2}, kTensorTile,
    512, kProductIterations)};
// Operations of instructions that a warpgroup executes together, on tiles of their size.
inline const RegisterOperation wgmma_peak{products_detail::products(
    "wgmma_peak",
    {.resource = Resource::tensor, .most_per_clock = products_detail::tensor_flops_per_clock},
    {Format::tf32, Format::fp16, Format::bf16, Format::fp8_e4m3, Format::fp8_e5m2}, kWarpgroupTile,
    kWgmmaBlocksPerSm, kWgmmaIterations)};

}  // namespace ridgebench
