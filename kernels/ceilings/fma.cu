// Multiply-adds between registers: eight independent chains per thread, four in fp64, and as many
// threads as an SM holds hide the latency of one. The coefficients are kernel arguments, so that
// the compiler can compute nothing in advance. Memory is touched only at the two ends of a chain.
// The limit is the rate at which the units accept work, less the few instructions of the loop.
#include "kernels/ceilings/fma.hpp"
#include "kernels/ceilings/sweep/parallelism.hpp"
#include "kernels/common/cuda/launch.cuh"

namespace ridgebench::cuda::ceilings_fma {

constexpr int kThreads = 256;
constexpr int kUnroll = 64;  // multiply-adds of a chain per turn of the loop

template <class T>
inline constexpr std::int64_t kChains = sizeof(T) == 8 ? kFmaDoubleChains : kFmaChains;

__device__ float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
__device__ double multiply_add(double a, double b, double c) { return fma(a, b, c); }

// Each chain goes `iterations` times through x <- factor x + addend.
template <class T, int kCount>
__device__ void run_chains(T (&chain)[kCount], int iterations, T factor, T addend) {
  int left = iterations;
#pragma unroll 1
  for (; left >= kUnroll; left -= kUnroll) {
#pragma unroll
    for (int step = 0; step < kUnroll; ++step) {
#pragma unroll
      for (T& c : chain) c = multiply_add(factor, c, addend);
    }
  }
#pragma unroll 1
  for (; left > 0; --left) {
#pragma unroll
    for (T& c : chain) c = multiply_add(factor, c, addend);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    fma_peak(const T* x, T* y, std::int64_t n, int iterations, T factor, T addend) {
  const std::int64_t first = std::int64_t{blockIdx.x} * (kThreads * kChains<T>)+threadIdx.x;
  T chain[kChains<T>];
#pragma unroll
  for (int k = 0; k < kChains<T>; ++k) {
    const std::int64_t i = first + k * kThreads;
    chain[k] = i < n ? x[i] : 0;
  }
  run_chains(chain, iterations, factor, addend);
#pragma unroll
  for (int k = 0; k < kChains<T>; ++k) {
    const std::int64_t i = first + k * kThreads;
    if (i < n) y[i] = chain[k];
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  const std::int64_t n = shape["n"];
  const unsigned blocks = blocks_for(n, kThreads * kChains<T>);
  return [=, iterations = chain_length(shape["iterations"]), stream = stream_of(queue)] {
    const FmaStep step(iterations);
    fma_peak<T><<<blocks, kThreads, 0, stream>>>(x, y, n, iterations, step.factor, step.addend);
  };
}

// A chosen number of warps in the one block of an SM, and of chains in a thread. The GPU gives a
// block an SM of its own as long as one is idle.
template <int kCount>
__global__ void fma_parallelism(const float* x, float* y, int iterations, float factor,
                                float addend) {
  const unsigned threads = blockDim.x;
  const std::int64_t first = std::int64_t{blockIdx.x} * threads * kCount + threadIdx.x;
  float chain[kCount];
#pragma unroll
  for (int k = 0; k < kCount; ++k) chain[k] = x[first + k * threads];
  run_chains(chain, iterations, factor, addend);
#pragma unroll
  for (int k = 0; k < kCount; ++k) y[first + k * threads] = chain[k];
}

template <int kCount>
Launch with_chains(Queue& queue, const Shape& shape, const float* x, float* y) {
  const auto blocks = static_cast<unsigned>(shape["blocks"]);
  const auto threads = static_cast<unsigned>(shape["warps"] * kWarp);
  return [=, iterations = chain_length(shape["iterations"]), stream = stream_of(queue)] {
    const FmaStep step(iterations);
    fma_parallelism<kCount>
        <<<blocks, threads, 0, stream>>>(x, y, iterations, step.factor, step.addend);
  };
}

Launch bind_parallelism(Queue& queue, const Shape& shape, const float* x, float* y) {
  switch (shape["chains"]) {
    case 1:
      return with_chains<1>(queue, shape, x, y);
    case 2:
      return with_chains<2>(queue, shape, x, y);
    case 4:
      return with_chains<4>(queue, shape, x, y);
    default:
      return with_chains<8>(queue, shape, x, y);
  }
}

template <class T>
Technique technique(const std::string& operation) {
  return {.operation = operation,
          .name = "registers",
          .engine = Engine::fma,
          .accumulator = FormatOf<T>::value,
          .supports = [](const Machine&, const Shape& s, FormatPair) {
            const auto reason = chain_limit(s["iterations"]);
            return reason ? reason : grid_limit(s["n"], kThreads * kChains<T>);
          }};
}

const Registration fp32{technique<float>("fma_peak"), bind<float>};
const Registration fp64{technique<double>("fma_double_peak"), bind<double>};
const Registration sweep{{.operation = "fma_parallelism",
                          .name = "registers",
                          .engine = Engine::fma,
                          .supports =
                              [](const Machine&, const Shape& s, FormatPair) {
                                auto reason = parallelism_limit(s, "chains");
                                if (!reason) reason = chain_limit(s["iterations"]);
                                return reason ? reason : grid_limit(s["blocks"], 1);
                              }},
                         bind_parallelism};

}  // namespace ridgebench::cuda::ceilings_fma
