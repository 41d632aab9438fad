// Rotary position embedding, a thread to a pair, which computes the token of its pair by divisions
// and loads two elements and two numbers of the table. The limit is the issue of instructions.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::rope_naive {

constexpr int kThreads = 256;

// pairs: of all heads; half: those of one.
template <class T>
__global__ void rope_naive(const T* x, const float* table, T* y, std::int64_t pairs,
                           std::int64_t half, std::int64_t h, std::int64_t s) {
  const std::int64_t pair = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (pair >= pairs) return;
  const std::int64_t head = pair / half;
  const float* const angle = table + head / h % s * 2 * half + pair % half;
  const std::int64_t i = head * 2 * half + pair % half;
  const float first = to_float(x[i]);
  const float second = to_float(x[i + half]);
  y[i] = from_float<T>(first * angle[0] - second * angle[half]);
  y[i + half] = from_float<T>(second * angle[0] + first * angle[half]);
}

std::int64_t pairs_of(const Shape& s) { return s["b"] * s["s"] * s["h"] * (s["d"] / 2); }

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const float* table, T* y) {
  const std::int64_t pairs = pairs_of(shape);
  return [=, half = shape["d"] / 2, h = shape["h"], s = shape["s"],
          blocks = blocks_for(pairs, kThreads), stream = stream_of(queue)] {
    rope_naive<<<blocks, kThreads, 0, stream>>>(x, table, y, pairs, half, h, s);
  };
}

const Registration naive{{.operation = "rope",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .supports = [](const Machine&, const Shape& s,
                                         FormatPair) { return grid_limit(pairs_of(s), kThreads); }},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::rope_naive
