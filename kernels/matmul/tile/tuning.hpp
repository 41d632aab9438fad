// Choosing among launches of one product by measurement, in prepare.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>

#include "kernels/common/error.hpp"
#include "kernels/common/queue.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench::cuda {

// Score of a candidate, in seconds: the median of five calls of `time`. Two calls are enough, and
// the smaller one is the score, where both take longer than 10 ms or than 1.2 times the best score
// so far. A single slow call therefore never decides.
template <class Time>
double score(Time time, double best) {
  std::array<double, 5> seconds{};
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    seconds[i] = time();
    smallest = std::min(smallest, seconds[i]);
    if (i > 0 && (smallest > 0.01 || smallest > 1.2 * best)) return smallest;
  }
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

// The candidate with the best score; timer(i) is called once for each i < count and returns a
// callable that measures candidate i once, in seconds. A candidate that throws is left out, unless
// the device is lost or all of them throw.
template <class Timer>
int fastest_of(int count, const Timer& timer) {
  double best = std::numeric_limits<double>::infinity();
  int fastest = -1;
  std::exception_ptr failure;
  for (int i = 0; i < count; ++i) {
    try {
      const double seconds = score(timer(i), best);
      if (seconds >= best) continue;
      best = seconds;
      fastest = i;
    } catch (const DeviceError&) {
      throw;
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
  }
  if (fastest < 0 && failure) std::rethrow_exception(failure);
  return std::max(fastest, 0);
}

// n elements of device memory, uniform in -1 to 1. Zeros would not do: the device multiplies them
// at a higher clock. Instantiated for the storage types of products in tuning.cu.
template <class T>
std::shared_ptr<T> random_elements(Queue& queue, std::int64_t n);

// Launches once and waits: the driver loads a kernel at its first launch, which must not be timed.
void warm_up(Queue& queue, const Launch& launch);

// Which of the launches make(i, a, b, bias, c), i < count, is the fastest.
template <class A, class B, class Out, class Make>
int fastest(Queue& queue, const Shape& shape, int count, const Make& make) {
  const auto a = random_elements<A>(queue, shape["m"] * shape["k"]);
  const auto b = random_elements<B>(queue, shape["k"] * shape["n"]);
  const auto bias = random_elements<Out>(queue, shape["n"]);
  const auto c = random_elements<Out>(queue, shape["m"] * shape["n"]);
  return fastest_of(count, [&](int i) {
    const Launch launch = make(i, a.get(), b.get(), bias.get(), c.get());
    warm_up(queue, launch);
    return [&queue, launch] { return queue.time(launch); };
  });
}

}  // namespace ridgebench::cuda
