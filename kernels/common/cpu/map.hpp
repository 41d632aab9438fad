// An elementwise operation on all threads. Include it inside a region of target_begin.hpp, for
// whose instruction set the compiler then builds it. Its functions are static, so that each region
// keeps its own.
#pragma once

#include <algorithm>
#include <array>

#include "kernels/common/cpu/streaming.hpp"

namespace ridgebench::cpu {

// Bytes that a few cores keep of a cache that a whole socket shares. Measured with ReLU on an Intel
// Xeon that reports 480 MiB: streaming stores are as fast as ordinary ones where x and y have 64
// MiB in all, and half as fast again at 128 MiB.
constexpr std::int64_t kMostKept = std::int64_t{64} << 20U;

// True where the arrays of n elements of T, x and y by default, do not fit the last-level cache
// together: streaming stores to the output are then faster.
template <class T>
static bool streaming_pays(std::int64_t n, std::int64_t arrays = 2) {
  const std::int64_t kept = std::min(last_level_cache_bytes(), kMostKept);
  return arrays * n * static_cast<std::int64_t>(sizeof(T)) > kept;
}

// A copy of n elements, padded with zeros to a block.
template <std::int64_t kElements, class T>
static std::array<T, kElements> padded(const T* x, std::int64_t n) {
  std::array<T, kElements> block{};
  std::copy_n(x, n, block.data());
  return block;
}

// Applies the function to fewer elements than a block, through padded copies.
template <std::int64_t kElements, class T, class Function, class... In>
static void map_edge(T* y, std::int64_t n, Function function, const In*... x) {
  std::array<T, kElements> out;
  function(padded<kElements>(x, n).data()..., out.data());
  std::copy_n(out.data(), n, y);
}

// Applies the function to this thread's share of the blocks from `cut.head` to `cut.tail`.
template <std::int64_t kElements, class T, class Function, class... In>
static void map_blocks(T* y, const StreamCut& cut, Function function, const In*... x) {
  const std::int64_t end = cut.tail;
#pragma omp for schedule(static)
  for (std::int64_t i = cut.head; i < end; i += kElements) function((x + i)..., y + i);
}

// The same with streaming stores. Small blocks are best: memory is fastest when reads and writes
// alternate line by line, and when a line takes few instructions, so that many misses are
// outstanding.
template <std::int64_t kElements, class T, class Function, class... In>
static void stream_blocks(T* y, const StreamCut& cut, Function function, const In*... x) {
  const std::int64_t end = cut.tail;
#pragma omp for schedule(static) nowait
  for (std::int64_t i = cut.head; i < end; i += kElements) {
    (prefetch_ahead<kElements>(x + i), ...);
    alignas(kLineBytes) std::array<T, kElements> block;
    function((x + i)..., block.data());
    for (std::int64_t k = 0; k < kElements; k += kLineElements<T>) {
      stream_line(y + i + k, block.data() + k);
    }
  }
  streaming_fence();
}

// y[i] = function of x[i] of every input, for i < n; function(in..., out) computes a block of
// kElements, whole lines.
template <std::int64_t kElements, class T, class Function, class... In>
static void map(T* y, std::int64_t n, int threads, bool streaming, Function function,
                const In*... x) {
  static_assert(kElements % kLineElements<T> == 0);
  const StreamCut cut(y, n, kElements);
#pragma omp parallel num_threads(threads)
  {
    if (streaming) {
      stream_blocks<kElements>(y, cut, function, x...);
    } else {
      map_blocks<kElements>(y, cut, function, x...);
    }
  }
  map_edge<kElements>(y, cut.head, function, x...);
  map_edge<kElements>(y + cut.tail, n - cut.tail, function, (x + cut.tail)...);
}

}  // namespace ridgebench::cpu
