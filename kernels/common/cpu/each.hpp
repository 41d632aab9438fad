// The loop of naive host kernels: one element after the other, by the conversions of format.hpp.
#pragma once

#include <cstdint>

#include "kernels/common/format.hpp"
#include "kernels/common/queue.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench::cpu {

// Binds y[i] = kFunction of x[i] of every input, for n elements in fp32 arithmetic.
template <auto kFunction, class T, class... In>
Launch bind_each(Queue& queue, const Shape& shape, const In*... x, T* y) {
  return [=, n = shape["n"], threads = queue.threads()] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < n; ++i) y[i] = encode<T>(kFunction(decode(x[i])...));
  };
}

}  // namespace ridgebench::cpu
