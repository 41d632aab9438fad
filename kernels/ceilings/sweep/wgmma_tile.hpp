// A sweep of the width N of wgmma, whose tile is 64 x N x 32 (products.hpp), in bf16 and fp8: which
// tiles of a product the tensor cores can be fed with, and whether A in registers helps. All widths
// do the same work. It is not a roof: wgmma_peak is.
#pragma once

#include <algorithm>
#include <array>

#include "kernels/ceilings/products.hpp"

namespace ridgebench {

inline constexpr std::array<std::int64_t, 8> kWgmmaWidths{256, 192, 128, 96, 64, 32, 16, 8};

namespace wgmma_tile_detail {

inline std::vector<Shape> shapes(Profile profile, Pace, const Machine& machine) {
  std::vector<Shape> shapes;
  if (machine.compute_capability == 0 || !at_least_standard(profile)) return shapes;
  for (const std::int64_t n : kWgmmaWidths) {
    if (profile != Profile::full && n != 8 && n != 64 && n != 128 && n != 256) continue;
    shapes.emplace_back(
        std::vector<Shape::Dimension>{{"tiles", kWgmmaBlocksPerSm * machine.units},
                                      {"m", kWarpgroupTile.m},
                                      {"n", n},
                                      {"k", kWarpgroupTile.k},
                                      {"iterations", kWgmmaIterations * kWarpgroupTile.n / n}});
  }
  return shapes;
}

inline Operation wgmma_tile() {
  Operation op = products_detail::products(
      "wgmma_tile",
      {.resource = Resource::tensor,
       .most_per_clock = products_detail::tensor_flops_per_clock,
       .sweep = true},
      {Format::bf16, Format::fp8_e4m3}, kWarpgroupTile, kWgmmaBlocksPerSm, kWgmmaIterations);
  op.shapes = shapes;
  return op;
}

}  // namespace wgmma_tile_detail

inline const RegisterOperation wgmma_tile{wgmma_tile_detail::wgmma_tile()};

}  // namespace ridgebench
