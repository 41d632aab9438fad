// Rotary position embedding, one pair after the other. Each element is read, converted and written
// by itself: the limit is the issue of instructions, in fp32 memory bandwidth.
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

template <class T>
void rotate(const T* x, const float* angles, T* y, std::int64_t half) {
  for (std::int64_t i = 0; i < half; ++i) {
    const float first = decode(x[i]);
    const float second = decode(x[half + i]);
    y[i] = encode<T>(first * angles[i] - second * angles[half + i]);
    y[half + i] = encode<T>(second * angles[i] + first * angles[half + i]);
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const float* table, T* y) {
  const std::int64_t heads = shape["b"] * shape["s"] * shape["h"];
  return [=, s = shape["s"], h = shape["h"], d = shape["d"], threads = queue.threads()] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < heads; ++i) {
      rotate(x + i * d, table + i / h % s * d, y + i * d, d / 2);
    }
  };
}

const Registration naive{{.operation = "rope",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
