// GeLU with its exponential as a polynomial (kernels/common/cpu/gelu.hpp): a few multiply-adds and
// one division, without branches, for whole vectors at once. The limit is memory bandwidth, as for
// ReLU, or, with narrow formats, the division and the conversions.
#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/gelu.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/map.hpp"

namespace ridgebench {
namespace {

// Elements of a block: a cache line, or more where the conversions fill a longer vector.
template <class T>
constexpr std::int64_t kElements =
    FormatOf<T>::value == Format::fp32 ? cpu::kLineElements<T>
                                       : std::max<std::int64_t>(cpu::kLineElements<T>, cpu::kBlock);

// Inlined, so that a loop over blocks loads the constants once.
[[gnu::always_inline]] inline void gelu_block(const float* in, float* out) {
#pragma omp simd
  for (std::int64_t k = 0; k < kElements<float>; ++k) out[k] = cpu::gelu(in[k]);
}

template <class T>
[[gnu::always_inline]] inline void gelu_block(const T* in, T* out) {
  for (std::int64_t first = 0; first < kElements<T>; first += cpu::kBlock) {
    std::array<float, cpu::kBlock> values;
    cpu::widen_block(in + first, values.data());
#pragma omp simd
    for (float& value : values) value = cpu::gelu(value);
    cpu::narrow_block(values.data(), out + first);
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  const std::int64_t n = shape["n"];
  return [=, threads = queue.threads(), streaming = cpu::streaming_pays<T>(n)] {
    cpu::map<kElements<T>>(x, y, n, threads, streaming,
                           [](const T* in, T* out)
                               __attribute__((always_inline)) { gelu_block(in, out); });
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration exp2_polynomial{{.operation = "gelu",
                                    .name = "exp2_polynomial",
                                    .engine = Engine::fma,
                                    .arithmetic = Format::fp32,
                                    .isa = cpu::kIsa,
                                    .approximation_error = cpu::kGeluError},
                                   ElementTypes{},
                                   []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
