// Main memory at full rate: every thread walks its own contiguous share, prefetches, and stores
// past the caches, line by line. The limit is the memory itself or, with few cores, the number of
// cache misses that a core can have outstanding.
#include "kernels/ceilings/dram.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "kernels/common/cpu/streaming.hpp"

#include "kernels/common/cpu/target_begin.hpp"

namespace ridgebench {
namespace {

constexpr std::int64_t kLine = cpu::kLineElements<float>;
constexpr std::int64_t kApart = 100 * kLine;

// A core reads two streams in turn, one per half, faster than one; and, on a Xeon, 3 % faster still
// where the streams are no power of two apart. So the first half is longer than the second.
float sum_of(const float* x, std::int64_t n) {
  const std::int64_t half = std::min(n, n / 2 + kApart);
  const std::int64_t whole = (n - half) / kLine * kLine;
  std::array<float, kLine> sums{};
  for (std::int64_t i = 0; i < whole; i += kLine) {
    cpu::prefetch_ahead<kLine>(x + i);
    cpu::prefetch_ahead<kLine>(x + half + i);
#pragma omp simd  // GCC unrolls the loop without it, and adds number by number
    for (std::int64_t k = 0; k < kLine; ++k) sums[k] += x[i + k] + x[half + i + k];
  }
  float sum = std::accumulate(sums.begin(), sums.end(), 0.0F);
  sum = std::accumulate(x + whole, x + half, sum);
  return std::accumulate(x + half + whole, x + n, sum);
}

Launch bind_read(Queue& queue, const Shape& shape, const float* x, float* sum) {
  // One sum per thread, added in order, so that every run gives the same bits.
  std::vector<float> sums(static_cast<std::size_t>(queue.threads()));
  return [n = shape["n"], threads = queue.threads(), sums, x, sum]() mutable {
#pragma omp parallel for num_threads(threads)
    for (int t = 0; t < threads; ++t) {
      const std::int64_t first = n * t / threads;
      const std::int64_t last = n * (t + 1) / threads;
      sums[static_cast<std::size_t>(t)] = sum_of(x + first, last - first);
    }
    *sum = std::accumulate(sums.begin(), sums.end(), 0.0F);
  };
}

// Stores y[i] = value(i), computed from the arrays x, for this thread's share past the caches. A
// function of its own keeps the pointers in registers: the fewer instructions a line takes, the
// more misses are outstanding at once.
template <class Value, class... X>
void stream_share(const cpu::StreamCut& cut, float* y, Value value, const X*... x) {
  const std::int64_t end = cut.tail;
#pragma omp for schedule(static) nowait
  for (std::int64_t first = cut.head; first < end; first += kLine) {
    (cpu::prefetch_ahead<kLine>(x + first), ...);
    alignas(cpu::kLineBytes) std::array<float, kLine> line;
#pragma omp simd
    for (std::int64_t k = 0; k < kLine; ++k) line[k] = value(first + k);
    cpu::stream_line(y + first, line.data());
  }
  cpu::streaming_fence();
}

template <class Value, class... X>
Launch stream(int threads, std::int64_t n, float* y, Value value, const X*... x) {
  return [=] {
    const cpu::StreamCut cut(y, n, cpu::kLineElements<float>);
#pragma omp parallel num_threads(threads)
    stream_share(cut, y, value, x...);
    for (std::int64_t i = 0; i < cut.head; ++i) y[i] = value(i);
    for (std::int64_t i = cut.tail; i < n; ++i) y[i] = value(i);
  };
}

Launch bind_write(Queue& queue, const Shape& shape, const float* value, float* y) {
  return stream(queue.threads(), shape["n"], y, [=](std::int64_t) { return *value; });
}

Launch bind_copy(Queue& queue, const Shape& shape, const float* x, float* y) {
  return stream(queue.threads(), shape["n"], y, [=](std::int64_t i) { return x[i]; }, x);
}

Launch bind_triad(Queue& queue, const Shape& shape, const float* a, const float* b, float* c) {
  const auto value = [=](std::int64_t i) { return a[i] + kTriadFactor * b[i]; };
  return stream(queue.threads(), shape["n"], c, value, a, b);
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

Technique technique(const std::string& operation) {
  return {.operation = operation, .name = "streaming", .engine = Engine::memory, .isa = cpu::kIsa};
}

using Fp32 = Types<float>;
const Registration read{technique("dram_read"), Fp32{}, []<class>() { return bind_read; }};
const Registration write{technique("dram_write"), Fp32{}, []<class>() { return bind_write; }};
const Registration copy{technique("dram_copy"), Fp32{}, []<class>() { return bind_copy; }};
const Registration triad{technique("dram_triad"), Fp32{}, []<class>() { return bind_triad; }};

}  // namespace
}  // namespace ridgebench
