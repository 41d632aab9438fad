// ReLU, one element after the other. Each element is read once and written once and costs a single
// comparison: the limit is memory bandwidth, whatever the format.
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  return [n = shape["n"], threads = queue.threads(), x, y] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < n; ++i) y[i] = decode(x[i]) < 0 ? encode<T>(0) : x[i];
  };
}

const Registration naive{{.operation = "relu",
                          .name = "naive",
                          .engine = Engine::memory,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         bind<float>,
                         bind<Fp16>,
                         bind<Bf16>,
                         bind<Fp8E4m3>,
                         bind<Fp8E5m2>};

}  // namespace
}  // namespace ridgebench
