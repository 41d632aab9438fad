// Ceiling of the tensor engines of a GPU in fp64, as products.hpp describes. Products and sums are
// rounded to fp64. It characterises a GPU and judges no kernel, so that the quick profile leaves it
// out.
#pragma once

#include "kernels/ceilings/products.hpp"

namespace ridgebench {

inline constexpr TileSize kDoubleTile{.m = 32, .n = 32, .k = 16};

namespace tensor_double_detail {

// FLOPs per clock of an SM: "NVIDIA A100 Tensor Core GPU Architecture", "NVIDIA H100 Tensor Core
// GPU Architecture", peak rates.
inline double most_per_clock(const Machine& machine, FormatPair) {
  switch (machine.compute_capability) {
    case 80:
      return 128;
    case 90:
      return 256;
    default:
      return 0;
  }
}

inline Operation tensor_double_peak() {
  Operation op = products_detail::products(
      "tensor_double_peak", {.resource = Resource::tensor, .most_per_clock = most_per_clock},
      {Format::fp64}, kDoubleTile, 512, kProductIterations);
  op.shapes = [all = op.shapes](Profile profile, Pace pace, const Machine& machine) {
    const bool measured = machine.compute_capability > 0 && at_least_standard(profile);
    return measured ? all(profile, pace, machine) : std::vector<Shape>();
  };
  return op;
}

}  // namespace tensor_double_detail

inline const RegisterOperation tensor_double_peak{tensor_double_detail::tensor_double_peak()};

}  // namespace ridgebench
