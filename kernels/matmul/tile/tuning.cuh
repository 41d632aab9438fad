// Choosing among launches of one product by measurement, in prepare.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/queue.hpp"
#include "kernels/common/random.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench::cuda {
namespace tuning_detail {

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

}  // namespace tuning_detail

// Which of the launches make(i, a, b, bias, c), i < count, is the fastest.
template <class A, class B, class Out, class Make>
int fastest(Queue& queue, const Shape& shape, int count, const Make& make) {
  const auto a = tuning_detail::scratch<A>(queue, shape["m"] * shape["k"]);
  const auto b = tuning_detail::scratch<B>(queue, shape["k"] * shape["n"]);
  const auto bias = tuning_detail::scratch<Out>(queue, shape["n"]);
  const auto c = tuning_detail::scratch<Out>(queue, shape["m"] * shape["n"]);
  double best = std::numeric_limits<double>::infinity();
  int fastest = 0;
  for (int i = 0; i < count; ++i) {
    const Launch launch = make(i, a.get(), b.get(), bias.get(), c.get());
    const double seconds = tuning_detail::median_time(queue, launch, best);
    if (seconds < best) {
      best = seconds;
      fastest = i;
    }
  }
  return fastest;
}

}  // namespace ridgebench::cuda
