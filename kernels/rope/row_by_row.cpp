// Rotary position embedding head by head in whole vectors: both halves of a head are widened,
// rotated and narrowed in parts that stay in the first-level cache, and the heads of a token share
// its row of the table. The limit is memory bandwidth, that of a copy.
#include <array>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/exp2.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/rows.hpp"

namespace ridgebench {
namespace {

// Rotates the pairs (x1[i], x2[i]) into (y1[i], y2[i]), i < count.
[[gnu::always_inline]] inline void rotate(const float* x1, const float* x2, const float* cosines,
                                          const float* sines, float* y1, float* y2,
                                          std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    y1[i] = x1[i] * cosines[i] - x2[i] * sines[i];
    y2[i] = x2[i] * cosines[i] + x1[i] * sines[i];
  }
}

template <class T>
void rotate_head(const T* x, const float* angles, T* y, std::int64_t half, bool streaming) {
  alignas(64) std::array<float, cpu::kStrip> buffer;
  alignas(64) std::array<float, cpu::kStrip> second;
  cpu::map_strips(x, y, half, streaming,
                  [&](const float* strip, float* first, std::int64_t begin, std::int64_t count) {
                    const std::int64_t other = half + begin;
                    const float* const x2 = cpu::widened_row(x + other, buffer.data(), count);
                    rotate(strip, x2, angles + begin, angles + other, first, second.data(), count);
                    cpu::write_row(second.data(), y + other, count, streaming);
                  });
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const float* table, T* y) {
  const std::int64_t tokens = shape["b"] * shape["s"];
  const std::int64_t h = shape["h"];
  const std::int64_t d = shape["d"];
  return [=, s = shape["s"], threads = queue.threads(),
          streaming = cpu::streaming_pays<T>(tokens * h * d)] {
    cpu::for_each_row(tokens, threads, [&](std::int64_t token) {
      for (std::int64_t i = token * h; i < (token + 1) * h; ++i) {
        rotate_head(x + i * d, table + token % s * d, y + i * d, d / 2, streaming);
      }
    });
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration row_by_row{{.operation = "rope",
                               .name = "row_by_row",
                               .engine = Engine::fma,
                               .arithmetic = Format::fp32,
                               .isa = cpu::kIsa},
                              TrainingTypes{},
                              []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
