// Multiply-adds between registers: eight independent chains per thread and as many threads as an SM
// holds hide the latency of one. The coefficients are kernel arguments, so that the compiler can
// compute nothing in advance. Memory is touched only at the two ends of a chain. The limit is the
// rate at which the units accept work, less the few instructions of the loop.
#include "kernels/ceilings/fma.hpp"
#include "kernels/common/cuda/launch.cuh"

namespace ridgebench::cuda::ceilings_fma {

constexpr int kThreads = 256;
constexpr int kUnroll = 64;  // multiply-adds of a chain per turn of the loop

__global__ void __launch_bounds__(kThreads)
    fma_peak(const float* x, float* y, std::int64_t n, int iterations, float factor, float addend) {
  const std::int64_t first = std::int64_t{blockIdx.x} * (kThreads * kFmaChains) + threadIdx.x;
  float chain[kFmaChains];
#pragma unroll
  for (int k = 0; k < kFmaChains; ++k) {
    const std::int64_t i = first + k * kThreads;
    chain[k] = i < n ? x[i] : 0;
  }
  int left = iterations;
#pragma unroll 1
  for (; left >= kUnroll; left -= kUnroll) {
#pragma unroll
    for (int step = 0; step < kUnroll; ++step) {
#pragma unroll
      for (float& c : chain) c = fmaf(factor, c, addend);
    }
  }
#pragma unroll 1
  for (; left > 0; --left) {
#pragma unroll
    for (float& c : chain) c = fmaf(factor, c, addend);
  }
#pragma unroll
  for (int k = 0; k < kFmaChains; ++k) {
    const std::int64_t i = first + k * kThreads;
    if (i < n) y[i] = chain[k];
  }
}

Launch bind(Queue& queue, const Shape& shape, const float* x, float* y) {
  const std::int64_t n = shape["n"];
  const unsigned blocks = blocks_for(n, kThreads * kFmaChains);
  return [=, iterations = chain_length(shape["iterations"]), stream = stream_of(queue)] {
    const FmaStep step(iterations);
    fma_peak<<<blocks, kThreads, 0, stream>>>(x, y, n, iterations, step.factor, step.addend);
  };
}

const Registration registers{{.operation = "fma_peak",
                              .name = "registers",
                              .engine = Engine::fma,
                              .supports =
                                  [](const Machine&, const Shape& s, FormatPair) {
                                    const auto reason = chain_limit(s["iterations"]);
                                    return reason ? reason
                                                  : grid_limit(s["n"], kThreads * kFmaChains);
                                  }},
                             bind};

}  // namespace ridgebench::cuda::ceilings_fma
