// Transposed copy by tiles that fit into the first-level cache: every line of x is read once,
// turned in a buffer, and written in whole lines, past the caches where y is large and its rows are
// aligned. Each element takes a load and a store of its own: they are the limit of few threads, and
// the memory bandwidth of a copy is that of many.
#include <algorithm>
#include <array>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/training_formats.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/map.hpp"

namespace ridgebench {
namespace {

constexpr std::int64_t kSide = 64;
// The processor's own prefetchers do not follow a stride of a row. Prefetched rows need not exist.
constexpr std::int64_t kRowsAhead = 16;

// y[j * m + i] = x[i * n + j] for i < rows and j < columns, at most kSide each.
template <class T>
void turn(const T* x, std::int64_t n, T* y, std::int64_t m, std::int64_t rows, std::int64_t columns,
          bool streaming) {
  alignas(cpu::kLineBytes) std::array<std::array<T, kSide>, kSide> turned;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; j += cpu::kLineElements<T>) {
      __builtin_prefetch(x + (i + kRowsAhead) * n + j);
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      turned[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)] = x[i * n + j];
    }
  }
  const bool lines = streaming && rows == kSide;
  for (std::int64_t j = 0; j < columns; ++j) {
    const T* const row = turned[static_cast<std::size_t>(j)].data();
    T* const out = y + j * m;
    if (lines && cpu::StreamCut::until_line(out) == 0) {
      for (std::int64_t k = 0; k < kSide; k += cpu::kLineElements<T>) {
        cpu::stream_line(out + k, row + k);
      }
    } else {
      std::copy_n(row, rows, out);
    }
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  return [=, threads = queue.threads(), streaming = cpu::streaming_pays<T>(m * n)] {
    const std::int64_t tile_rows = ceil_div(m, kSide);
    const std::int64_t tiles = tile_rows * ceil_div(n, kSide);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
      for (std::int64_t tile = 0; tile < tiles; ++tile) {
        const std::int64_t i = tile % tile_rows * kSide;
        const std::int64_t j = tile / tile_rows * kSide;
        turn(x + i * n + j, n, y + j * m + i, m, std::min(kSide, m - i), std::min(kSide, n - j),
             streaming);
      }
      cpu::streaming_fence();
    }
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration tiles{
    {.operation = "transpose_copy", .name = "tiles", .engine = Engine::memory, .isa = cpu::kIsa},
    TrainingTypes{},
    []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
