// Addition of whole vectors of a register. It streams large results past the caches. The limit is
// the memory bandwidth of three arrays, two read and one written.
#include "kernels/common/cpu/streaming.hpp"

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/training_formats.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/pointwise.hpp"

namespace ridgebench {
namespace {

struct Add {
  [[gnu::always_inline]] float operator()(float x, float y) const { return x + y; }
};

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const T* y, T* z) {
  return cpu::pointwise_launch<Add>(queue, shape["n"], z, x, y);
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration streaming{{.operation = "add",
                              .name = "streaming",
                              .engine = Engine::memory,
                              .arithmetic = Format::fp32,
                              .isa = cpu::kIsa},
                             TrainingTypes{},
                             []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
