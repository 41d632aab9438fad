// Special functions between registers: every thread adds up four sums whose arguments do not depend
// on earlier results, so that no thread waits for the latency of one. Each function instruction
// comes with two additions, which other units do at eight times the rate. The limit is the rate at
// which the special-function unit accepts work.
#include "kernels/ceilings/sfu.hpp"
#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/launch.cuh"

namespace ridgebench::cuda::ceilings_sfu {

constexpr int kThreads = 256;

struct Tanh {
  static constexpr double kError = 0x1p-10;  // twice the documented relative one
  __device__ float operator()(float x) const { return tanh_approx(x); }
};

struct Exp2 {
  static constexpr double kError = 0x1p-21;
  __device__ float operator()(float x) const { return exp2_approx(x); }
};

template <class Function>
__global__ void __launch_bounds__(kThreads)
    sfu_peak(const float* x, float* y, std::int64_t n, int iterations) {
  const std::int64_t first = std::int64_t{blockIdx.x} * (kThreads * kSfuSums) + threadIdx.x;
  float argument[kSfuSums];
  float sum[kSfuSums] = {};
#pragma unroll
  for (int k = 0; k < kSfuSums; ++k) {
    const std::int64_t i = first + k * kThreads;
    argument[k] = i < n ? x[i] : 0;
  }
#pragma unroll 8
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int k = 0; k < kSfuSums; ++k) {
      argument[k] += kSfuStep;
      sum[k] += Function{}(argument[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < kSfuSums; ++k) {
    const std::int64_t i = first + k * kThreads;
    if (i < n) y[i] = sum[k];
  }
}

template <class Function>
Launch bind(Queue& queue, const Shape& shape, const float* x, float* y) {
  const std::int64_t n = shape["n"];
  const unsigned blocks = blocks_for(n, kThreads * kSfuSums);
  return [=, iterations = chain_length(shape["iterations"]), stream = stream_of(queue)] {
    sfu_peak<Function><<<blocks, kThreads, 0, stream>>>(x, y, n, iterations);
  };
}

template <class Function>
Registration registration(const std::string& operation) {
  return Registration({.operation = operation,
                       .name = "registers",
                       .engine = Engine::sfu,
                       .supports =
                           [](const Machine&, const Shape& s, FormatPair) {
                             const auto reason = chain_limit(s["iterations"]);
                             return reason ? reason : grid_limit(s["n"], kThreads * kSfuSums);
                           },
                       .approximation_error = Function::kError},
                      bind<Function>);
}

const Registration tanh = registration<Tanh>("sfu_tanh");
const Registration exp2 = registration<Exp2>("sfu_exp2");

}  // namespace ridgebench::cuda::ceilings_sfu
