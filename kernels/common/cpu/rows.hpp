// Rows of any format on one thread, in strips of fp32 numbers that stay in the first-level cache.
// Include it inside a region of target_begin.hpp, for whose instruction set the compiler then
// builds it. Its functions are static, so that each region keeps its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numbers>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/exp2.hpp"

#include "kernels/common/cpu/map.hpp"

namespace ridgebench::cpu {

// Elements of a strip.
constexpr std::int64_t kStrip = 512;
static_assert(kStrip % kBlock == 0);

// x[0, n) as fp32: x itself, or `buffer` with the converted elements.
template <class T>
static const float* widened_row(const T* x, float* buffer, std::int64_t n) {
  if constexpr (FormatOf<T>::value == Format::fp32) {
    return x;
  } else {
    const std::int64_t whole = n / kBlock * kBlock;
    for (std::int64_t i = 0; i < whole; i += kBlock) widen_block(x + i, buffer + i);
    for (std::int64_t i = whole; i < n; ++i) buffer[i] = widen(x[i]);
    return buffer;
  }
}

// y[i] = x[i] rounded to T, i < n. fp32 is copied in blocks, whose constant length GCC turns into
// vector moves. GCC 12 turns a copy of n elements into `rep movsq`, which is slow behind streaming
// stores.
template <class T>
static void narrow_row(const float* x, T* y, std::int64_t n) {
  const std::int64_t whole = n / kBlock * kBlock;
  for (std::int64_t i = 0; i < whole; i += kBlock) {
    if constexpr (FormatOf<T>::value == Format::fp32) {
      std::copy_n(x + i, kBlock, y + i);
    } else {
      narrow_block(x + i, y + i);
    }
  }
  for (std::int64_t i = whole; i < n; ++i) y[i] = narrow<T>(x[i]);
}

// The same. `streaming`: whole lines of y go past the caches, and the thread calls
// streaming_fence() afterwards.
template <class T>
static void write_row(const float* x, T* y, std::int64_t n, bool streaming) {
  constexpr std::int64_t each = std::max<std::int64_t>(kBlock, kLineElements<T>);
  if (!streaming) return narrow_row(x, y, n);
  const StreamCut cut(y, n, each);
  narrow_row(x, y, cut.head);
  for (std::int64_t i = cut.head; i < cut.tail; i += each) {
    alignas(kLineBytes) std::array<T, each> block;
    narrow_row(x + i, block.data(), each);
    for (std::int64_t k = 0; k < each; k += kLineElements<T>) {
      stream_line(y + i + k, block.data() + k);
    }
  }
  narrow_row(x + cut.tail, y + cut.tail, n - cut.tail);
}

// Calls use(strip, first, count) for each strip: elements x[first, first + count) as fp32.
template <class T, class Use>
static void for_each_strip(const T* x, std::int64_t n, Use use) {
  alignas(64) std::array<float, kStrip> buffer;
  for (std::int64_t first = 0; first < n; first += kStrip) {
    const std::int64_t count = std::min(kStrip, n - first);
    use(widened_row(x + first, buffer.data(), count), first, count);
  }
}

// Calls change(strip, out, first, count) for each strip, which writes out[0, count), and writes
// those numbers to y as write_row.
template <class T, class Change>
static void map_strips(const T* x, T* y, std::int64_t n, bool streaming, Change change) {
  alignas(64) std::array<float, kStrip> out;
  for_each_strip(x, n, [&](const float* strip, std::int64_t first, std::int64_t count) {
    change(strip, out.data(), first, count);
    write_row(out.data(), y + first, count, streaming);
  });
}

// Calls row(i) for i < m on all threads, and streaming_fence() behind the last row of each.
template <class Row>
static void for_each_row(std::int64_t m, int threads, Row row) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i < m; ++i) row(i);
    streaming_fence();
  }
}

[[maybe_unused]] static float max_of(const float* x, std::int64_t n) {
  float max = std::numeric_limits<float>::lowest();
#pragma omp simd reduction(max : max)
  for (std::int64_t i = 0; i < n; ++i) max = x[i] > max ? x[i] : max;
  return max;
}

// y[i] = e^(x[i] - max), i < n, and returns their sum; no x[i] exceeds max.
[[maybe_unused]] static float exponentials(const float* x, float* y, std::int64_t n, float max) {
  constexpr float kLog2E = std::numbers::log2e_v<float>;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = exp2_of_negative((x[i] - max) * kLog2E);
    sum += y[i];
  }
  return sum;
}

// e^(smaller - larger), by which a sum of exponentials shrinks when its maximum grows.
[[maybe_unused]] static float shrinkage(float smaller, float larger) {
  return exp2_of_negative((smaller - larger) * std::numbers::log2e_v<float>);
}

// The largest x[i], and the sum of e^(x[i] - max).
struct MaxAndSum {
  float max = std::numeric_limits<float>::lowest();
  float sum = 0;
};

// Reads the row once: the sum so far shrinks when a strip has a larger maximum (Milakov and
// Gimelshein, arXiv 1805.02867).
template <class T>
static MaxAndSum max_and_sum(const T* x, std::int64_t n) {
  MaxAndSum all;
  alignas(64) std::array<float, kStrip> terms;
  for_each_strip(x, n, [&](const float* strip, std::int64_t /*first*/, std::int64_t count) {
    const float max = std::max(all.max, max_of(strip, count));
    all.sum = all.sum * shrinkage(all.max, max) + exponentials(strip, terms.data(), count, max);
    all.max = max;
  });
  return all;
}

}  // namespace ridgebench::cpu
