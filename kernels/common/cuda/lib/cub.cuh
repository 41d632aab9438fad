// CUB's transform, the yardstick of elementwise operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cub/device/device_transform.cuh>
#include <memory>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/queue.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda {

// y[i] = function(x[i]) for n elements.
template <class T, class Function>
Launch transform(const Queue& queue, std::int64_t n, const T* x, T* y, Function function) {
  return [=, stream = stream_of(queue)] {
    check(cub::DeviceTransform::Transform(x, y, n, function, stream));
  };
}

// CUB chooses the tile for a type and function in its first call and keeps it, and a first call
// with few elements chooses a small tile. This makes a first call that is long enough. Returns the
// memory of that call, which must outlive it on the stream.
template <class T, class Function>
std::shared_ptr<void> choose_tile(Queue& queue, Function function) {
  constexpr std::int64_t n = std::int64_t{1}
                             << 17U;  // more than a tile, which fits into shared memory
  std::shared_ptr<void> scratch = queue.allocate(static_cast<std::size_t>(n) * sizeof(T));
  auto* const x = static_cast<T*>(scratch.get());
  transform(queue, n, static_cast<const T*>(x), x, function)();
  return scratch;
}

// What a registration binds for elements of type T and the stateless Function.
template <class T, class Function>
auto planned_transform() {
  using Scratch = std::shared_ptr<void>;
  return planned(
      +[](Queue& queue, const Shape&) -> Scratch { return choose_tile<T>(queue, Function{}); },
      +[](Queue& queue, const Scratch&, const Shape& shape, const T* x, T* y) {
        return transform(queue, shape["n"], x, y, Function{});
      });
}

}  // namespace ridgebench::cuda
