// The fastest launch of one product, in prepare, on operands of its own.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/common/queue.hpp"
#include "kernels/common/shape.hpp"
#include "kernels/matmul/tile/select_fastest.hpp"

namespace ridgebench::cuda {

// n elements of device memory, normal. Zeros would not do: the device multiplies them
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
  return select_fastest(queue, count, [&](int i) {
    Launch launch = make(i, a.get(), b.get(), bias.get(), c.get());
    warm_up(queue, launch);
    return launch;
  });
}

}  // namespace ridgebench::cuda
