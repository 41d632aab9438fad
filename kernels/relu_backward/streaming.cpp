// Gradient of ReLU, for whole vectors of a register. It streams large results past the caches. The
// limit is the memory bandwidth of three arrays, two read and one written.
#include "kernels/common/cpu/streaming.hpp"

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/training_formats.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/pointwise.hpp"

namespace ridgebench {
namespace {

struct ReluBackward {
  [[gnu::always_inline]] float operator()(float x, float dy) const {
    return cpu::select(x > 0, dy, 0.0F);
  }
};

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const T* dy, T* dx) {
  return cpu::pointwise_launch<ReluBackward>(queue, shape["n"], dx, x, dy);
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration streaming{{.operation = "relu_backward",
                              .name = "streaming",
                              .engine = Engine::memory,
                              .arithmetic = Format::fp32,
                              .isa = cpu::kIsa},
                             TrainingTypes{},
                             []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
