// Ceilings of the tensor engines of a GPU in int8: tensor_int8_peak and wgmma_int8_peak add up
// products as products.hpp describes, of whole numbers and into int32, so that every result is
// exact. Multiplications and additions of whole numbers count as FLOPs; data sheets call them
// operations. They characterise a GPU and are the roof of no kernel, because none computes in int8.
#pragma once

#include "kernels/ceilings/products.hpp"

namespace ridgebench {

inline constexpr std::int64_t kInt8Iterations = 2 * kProductIterations;
inline constexpr std::int64_t kWgmmaInt8Iterations = 3 * kWgmmaIterations / 2;
static_assert(kWgmmaInt8Iterations * kWarpgroupTile.k * 128 * 128 < std::int64_t{1} << 31,
              "the largest sum is a number of int32");

namespace int8_detail {

// Operations per clock of an SM: "NVIDIA A100 Tensor Core GPU Architecture", "NVIDIA H100 Tensor
// Core GPU Architecture", data sheets of L4, L40S and B200.
inline double most_per_clock(const Machine& machine, FormatPair) {
  switch (machine.compute_capability) {
    case 80:
      return 4096;
    case 89:
      return 2048;
    case 90:
      return 8192;
    case 100:
      return 16384;
    default:
      return 0;
  }
}

inline Operation int8_peak(const std::string& name, TileSize tile, std::int64_t tiles,
                           std::int64_t iterations) {
  Operation op = products_detail::products(
      name, {.resource = Resource::tensor, .most_per_clock = most_per_clock}, {Format::int8}, tile,
      tiles, iterations);
  op.shapes = [all = op.shapes](Profile profile, Pace pace, const Machine& machine) {
    const bool measured = machine.compute_capability > 0 && at_least_standard(profile);
    return measured ? all(profile, pace, machine) : std::vector<Shape>();
  };
  return op;
}

}  // namespace int8_detail

inline const RegisterOperation tensor_int8_peak{
    int8_detail::int8_peak("tensor_int8_peak", kTensorTile, 512, kInt8Iterations)};
inline const RegisterOperation wgmma_int8_peak{int8_detail::int8_peak(
    "wgmma_int8_peak", kWarpgroupTile, kWgmmaBlocksPerSm, kWgmmaInt8Iterations)};

}  // namespace ridgebench
