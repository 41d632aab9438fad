// CUB's transform, the yardstick of elementwise operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/lib/cub_include.cuh"
#include "kernels/common/queue.hpp"
#include "kernels/common/registry.hpp"

#if CUB_VERSION >= 200800
#include <cub/device/device_transform.cuh>
#endif

namespace ridgebench::cuda {

inline std::optional<std::string> supports_cub_transform(const Machine&, const Shape&, FormatPair) {
  return cub_lacks(kCubTransform, CUB_VERSION);
}

static_assert(kCubTransform.since == 200800);
#if CUB_VERSION >= 200800

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

// Returns a bind for elements of type T and the stateless Function.
template <class T, class Function>
auto planned_transform() {
  using Scratch = std::shared_ptr<void>;
  return planned(
      +[](Queue& queue, const Shape&) -> Scratch { return choose_tile<T>(queue, Function{}); },
      +[](Queue& queue, const Scratch&, const Shape& shape, const T* x, T* y) {
        return transform(queue, shape["n"], x, y, Function{});
      });
}

#else

template <class T, class Function>
auto planned_transform() {
  return +[](Queue&, const Shape&, const T*, T*) -> Launch {
    throw Unsupported(*cub_lacks(kCubTransform, CUB_VERSION));
  };
}

#endif

}  // namespace ridgebench::cuda
