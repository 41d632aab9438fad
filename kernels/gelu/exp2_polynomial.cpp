// GeLU with its exponential as a polynomial (kernels/common/cpu/gelu.hpp): a few multiply-adds and
// one division, without branches, for whole vectors at once. The limit is memory bandwidth, as for
// ReLU, or, with narrow formats, the division and the conversions.
#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/gelu.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/pointwise.hpp"

namespace ridgebench {
namespace {

struct Gelu {
  [[gnu::always_inline]] float operator()(float x) const { return cpu::gelu(x); }
};

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  return cpu::pointwise_launch<Gelu>(queue, shape["n"], y, x);
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
