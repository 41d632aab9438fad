// What the two cuBLASLt yardsticks share, matmul and matmul_gelu: `cublas` runs the algorithm that
// the library would choose by itself, `cublas_tuned` the fastest of its first 32 by measurement.
// For fp8 the suffix `_fast_accum` leaves out the moving of sums to fp32 on the way.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/common/cuda/lib/cublaslt.cuh"
#include "kernels/common/fp8_accumulation.hpp"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/gelu_reference.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/tile/tuning.cuh"

namespace ridgebench::cuda {

template <class A, class B, class Out>
void tune(Queue& queue, const Shape& shape, LtProduct& product) {
  const std::vector<LtAlgorithm> candidates = product.algorithms(LtProduct::kMostAlgorithms);
  const auto algorithm = [&](int i) { return candidates[static_cast<std::size_t>(i)]; };
  const int best = fastest<A, B, Out>(queue, shape, static_cast<int>(candidates.size()),
                                      [&](int i, const A* a, const B* b, const Out* bias, Out* c) {
                                        product.choose(algorithm(i));
                                        return product.bind(a, b, bias, c);
                                      });
  product.choose(algorithm(best));
}

template <class A, class B, class Out, bool kGelu, bool kTuned, bool kFast>
LtProduct prepare(Queue& queue, const Shape& shape) {
  LtProduct product(queue, shape, {FormatOf<A>::value, FormatOf<B>::value},
                    {.fast_accumulation = kFast, .gelu = kGelu});
  product.choose(product.algorithms(1).front());
  if (kTuned) tune<A, B, Out>(queue, shape, product);
  return product;
}

// Where C is rounded to 16 bits before bias and GeLU: half a unit of the last place of bf16, of a
// sum that is up to twice gelu_norm, times GeLU's largest slope.
inline constexpr double kRoundedBeforeGelu = 0x1p-9 * 2 * kGeluMaxSlope;

constexpr Technique cublas_technique(std::string_view operation, std::string_view name,
                                     Engine engine, double error = 0) {
  return {.operation = operation,
          .name = name,
          .engine = engine,
          .origin = Origin::library,
          .approximation_error = error};
}

}  // namespace ridgebench::cuda
