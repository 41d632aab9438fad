// What the two cuBLASLt yardsticks share, matmul and matmul_gelu: `cublas` runs the algorithm that
// the library would choose by itself, `cublas_tuned` the fastest of its first 32 by measurement.
// For fp8 the suffix `_fast_accum` leaves out the moving of sums to fp32 on the way.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string_view>

#include "kernels/common/cuda/cublaslt.cuh"
#include "kernels/common/cuda/fp8_accumulation.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/random.hpp"
#include "kernels/common/registry.hpp"

namespace ridgepoint::cuda {

template <class T>
__global__ void fill_random(T* x, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto bits = static_cast<std::int32_t>(random_block(0, 0, i).word[0]);
  x[i] = from_float<T>(static_cast<float>(bits) * 0x1p-31F);  // -1 to 1
}

// Numbers to tune on. They are no zeros, which the device multiplies at a higher clock.
template <class T>
std::shared_ptr<T> scratch(Queue& queue, std::int64_t n) {
  auto memory =
      std::static_pointer_cast<T>(queue.allocate(static_cast<std::size_t>(n) * sizeof(T)));
  constexpr int threads = 256;
  const unsigned blocks = blocks_for(n, threads);
  fill_random<<<blocks, threads, 0, stream_of(queue)>>>(memory.get(), n);
  check(cudaGetLastError());
  return memory;
}

// Seconds of one launch: the median of five, of a long one or one out of the race a single one.
inline double median_time(Queue& queue, const Launch& launch, double best) {
  launch();  // loads the kernel, which must not happen while something waits
  check(cudaStreamSynchronize(stream_of(queue)));
  std::array<double, 5> seconds{};
  for (double& s : seconds) {
    s = queue.time(launch);
    if (s > 0.01 || s > 1.2 * best) return s;
  }
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

template <class A, class B, class Out>
void tune(Queue& queue, const Shape& shape, LtProduct& product) {
  const auto a = scratch<A>(queue, shape["m"] * shape["k"]);
  const auto b = scratch<B>(queue, shape["k"] * shape["n"]);
  const auto bias = scratch<Out>(queue, shape["n"]);
  const auto c = scratch<Out>(queue, shape["m"] * shape["n"]);
  double best = std::numeric_limits<double>::infinity();
  LtAlgorithm fastest{};
  for (const LtAlgorithm& candidate : product.algorithms(LtProduct::kMostAlgorithms)) {
    product.choose(candidate);
    const Launch launch = product.bind(a.get(), b.get(), bias.get(), c.get());
    const double seconds = median_time(queue, launch, best);
    if (seconds < best) {
      best = seconds;
      fastest = candidate;
    }
  }
  product.choose(fastest);
}

template <class A, class B, class Out, bool kGelu, bool kTuned, bool kFast>
LtProduct prepare(Queue& queue, const Shape& shape) {
  LtProduct product(queue, shape, {FormatOf<A>::value, FormatOf<B>::value},
                    {.fast_accumulation = kFast, .gelu = kGelu});
  product.choose(product.algorithms(1).front());
  if (kTuned) tune<A, B, Out>(queue, shape, product);
  return product;
}

constexpr Technique cublas_technique(std::string_view operation, std::string_view name,
                                     Engine engine, double error = 0) {
  return {.operation = operation,
          .name = name,
          .engine = engine,
          .origin = Origin::library,
          .special_error = error};
}

}  // namespace ridgepoint::cuda
