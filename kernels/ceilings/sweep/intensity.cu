// Multiply-adds on vectors of 16 bytes from main memory: the four chains of a vector and as many
// threads as an SM holds hide the latency of one, and the blocks that load those that calculate.
// The limit is main memory up to the ridge, and beyond it the rate of the multiply-add units.
#include "kernels/ceilings/sweep/intensity.hpp"
#include "kernels/common/cuda/map_vectors.cuh"

namespace ridgebench::cuda::ceilings_intensity {

constexpr int kUnroll = 32;  // multiply-adds of a chain per turn of the loop

struct Chains {
  int iterations;
  float factor, addend;

  __device__ float operator()(float x) const {
#pragma unroll 1
    for (int i = 0; i < iterations; ++i) x = fmaf(factor, x, addend);
    return x;
  }

  __device__ void step(Vec16<float>& x) const {
#pragma unroll
    for (Pair<float>& pair : x.pair) {
      pair.first = fmaf(factor, pair.first, addend);
      pair.second = fmaf(factor, pair.second, addend);
    }
  }

  __device__ Vec16<float> operator()(Vec16<float> x) const {
    int left = iterations;
#pragma unroll 1
    for (; left >= kUnroll; left -= kUnroll) {
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) step(x);
    }
#pragma unroll 1
    for (; left > 0; --left) step(x);
    return x;
  }
};

template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    intensity_vec16(const float* x, float* y, std::int64_t n, Chains chains) {
  map_vectors<kThreads>(x, y, n, chains);
}

Launch bind(Queue& queue, const BlockThreads& block, const Shape& shape, const float* x, float* y) {
  require_aligned(x);
  require_aligned(y);
  return with_threads(block, [&]<int kThreads>() -> Launch {
    const std::int64_t n = shape["n"];
    const int iterations = chain_length(shape["iterations"]);
    const FmaStep step(iterations);
    const Chains chains{.iterations = iterations, .factor = step.factor, .addend = step.addend};
    const unsigned blocks = blocks_of_vectors<float, kThreads>(n);
    return [=, stream = stream_of(queue)] {
      intensity_vec16<kThreads><<<blocks, kThreads, 0, stream>>>(x, y, n, chains);
    };
  });
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair format) {
  const auto reason = chain_limit(shape["iterations"]);
  return reason ? reason : supports_vectors<kLeastThreads>(machine, shape, format);
}

const Registration vec16{
    {.operation = "intensity", .name = "vec16", .engine = Engine::fma, .supports = supports},
    planned(prepare_threads<kMostThreads>, bind)};

}  // namespace ridgebench::cuda::ceilings_intensity
