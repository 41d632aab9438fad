// A sweep of arithmetic intensity, which traces the roofline by measurement: each of n elements in
// main memory is read, goes through `iterations` multiply-adds (fma.hpp has the chain), and is
// written. 2 iterations FLOPs to 8 bytes, in fp32. It is a kernel and no roof: a copy and fma_peak
// judge it.
#pragma once

#include "kernels/ceilings/fma.hpp"
#include "kernels/common/sweep.hpp"

namespace ridgebench {

namespace intensity_detail {

// From 1/4 FLOP per byte to beyond the ridge: of a GPU 128, of a host, which is slower, 32.
inline std::vector<Shape> shapes(Profile profile, Pace, const Machine& machine) {
  if (!at_least_standard(profile)) return {};
  const std::int64_t n = dram_elements(machine, 2 * sizeof(float));
  const std::int64_t most = machine.compute_capability > 0 ? 512 : 128;
  const std::int64_t factor = profile == Profile::full ? 2 : 4;
  std::vector<Shape> shapes;
  for (std::int64_t iterations = most; iterations >= 1; iterations /= factor) {
    shapes.emplace_back(std::vector<Shape::Dimension>{{"n", n}, {"iterations", iterations}});
  }
  return shapes;
}

inline Operation intensity() {
  Operation op = fma_detail::fma_peak();
  op.name = "intensity";
  op.shapes = shapes;
  op.ceiling.reset();
  return op;
}

}  // namespace intensity_detail

inline const RegisterOperation intensity{intensity_detail::intensity()};

}  // namespace ridgebench
