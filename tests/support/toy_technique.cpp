// ReLU through fp32: widen, choose, round. It serves the tests: this one file, which nothing names,
// adds a technique to every command, in the two formats that it registers. The limit is memory
// bandwidth.
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  return [n = shape["n"], threads = queue.threads(), x, y] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < n; ++i) {
      const float value = decode(x[i]);
      y[i] = encode<T>(value < 0 ? 0 : value);
    }
  };
}

const Registration toy{
    {.operation = "relu", .name = "toy", .engine = Engine::memory, .arithmetic = Format::fp32},
    Types<float, Bf16>{},
    []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
