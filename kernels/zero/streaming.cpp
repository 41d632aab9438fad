// Zeros by whole vectors of a register. It streams large results past the caches, so that no line
// is read. The limit is the memory bandwidth of stores.
#include "kernels/common/cpu/streaming.hpp"

#include <algorithm>

#include "kernels/common/training_formats.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/map.hpp"

namespace ridgebench {
namespace {

template <class T>
Launch bind(Queue& queue, const Shape& shape, T* y) {
  const std::int64_t n = shape["n"];
  return [=, threads = queue.threads(), streaming = cpu::streaming_pays<T>(n, 1)] {
    constexpr std::int64_t kLine = cpu::kLineElements<T>;
    cpu::map<kLine>(y, n, threads, streaming, [](T* out) { std::fill_n(out, kLine, T{}); });
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration streaming{
    {.operation = "zero", .name = "streaming", .engine = Engine::memory, .isa = cpu::kIsa},
    TrainingTypes{},
    []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
