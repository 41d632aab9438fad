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

// True where x and y together do not fit the last-level cache: streaming stores to y are then
// faster.
template <class T>
static bool streaming_pays(std::int64_t n) {
  const std::int64_t kept = std::min(last_level_cache_bytes(), kMostKept);
  return 2 * n * static_cast<std::int64_t>(sizeof(T)) > kept;
}

// Applies the function to fewer elements than a block, through padded copies.
template <std::int64_t kElements, class T, class Function>
static void map_edge(const T* x, T* y, std::int64_t n, Function function) {
  std::array<T, kElements> in{};
  std::array<T, kElements> out;
  std::copy_n(x, n, in.data());
  function(in.data(), out.data());
  std::copy_n(out.data(), n, y);
}

// Applies the function to this thread's share of the blocks from `cut.head` to `cut.tail`.
template <std::int64_t kElements, class T, class Function>
static void map_blocks(const T* x, T* y, const StreamCut& cut, Function function) {
  const std::int64_t end = cut.tail;
#pragma omp for schedule(static)
  for (std::int64_t i = cut.head; i < end; i += kElements) function(x + i, y + i);
}

// The same with streaming stores. Small blocks are best: memory is fastest when reads and writes
// alternate line by line, and when a line takes few instructions, so that many misses are
// outstanding.
template <std::int64_t kElements, class T, class Function>
static void stream_blocks(const T* x, T* y, const StreamCut& cut, Function function) {
  const std::int64_t end = cut.tail;
#pragma omp for schedule(static) nowait
  for (std::int64_t i = cut.head; i < end; i += kElements) {
    prefetch_ahead<kElements>(x + i);
    alignas(kLineBytes) std::array<T, kElements> block;
    function(x + i, block.data());
    for (std::int64_t k = 0; k < kElements; k += kLineElements<T>) {
      stream_line(y + i + k, block.data() + k);
    }
  }
  streaming_fence();
}

// y[i] = function of x[i] for i < n; function(in, out) computes a block of kElements, whole lines.
template <std::int64_t kElements, class T, class Function>
static void map(const T* x, T* y, std::int64_t n, int threads, bool streaming, Function function) {
  static_assert(kElements % kLineElements<T> == 0);
  const StreamCut cut(y, n, kElements);
#pragma omp parallel num_threads(threads)
  {
    if (streaming) {
      stream_blocks<kElements>(x, y, cut, function);
    } else {
      map_blocks<kElements>(x, y, cut, function);
    }
  }
  map_edge<kElements>(x, y, cut.head, function);
  map_edge<kElements>(x + cut.tail, y + cut.tail, n - cut.tail, function);
}

}  // namespace ridgebench::cpu
