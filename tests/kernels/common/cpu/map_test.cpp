#include "kernels/common/cpu/map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ridgebench::cpu {
namespace {

// map chooses streaming stores for large arrays only; the test forces them, at every alignment.
// The two inputs start at different places of a line.
template <class T>
void expect_every_element_once(std::int64_t n, std::int64_t offset, bool streaming) {
  constexpr T kGuard = 99;
  const auto size = static_cast<std::size_t>(n + offset);
  std::vector<T> x(size);
  std::vector<T> other(size + 3, 1);
  std::vector<T> y(size + 1, kGuard);
  for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<T>(i % 50);
  constexpr std::int64_t kElements = 2 * kLineElements<T>;
  const auto add = [](const T* in, const T* one, T* out) {
    for (std::int64_t k = 0; k < kElements; ++k) out[k] = static_cast<T>(in[k] + one[k]);
  };
  map<kElements>(y.data() + offset, n, 2, streaming, add, x.data() + offset,
                 other.data() + offset + 3);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const bool outside = i < static_cast<std::size_t>(offset) || i >= size;
    ASSERT_EQ(y[i], outside ? kGuard : static_cast<T>(i % 50 + 1)) << i << " of " << n;
  }
}

// No input: the function writes.
template <class T>
void expect_every_element_written(std::int64_t n, bool streaming) {
  std::vector<T> y(static_cast<std::size_t>(n) + 1, 9);
  constexpr std::int64_t kElements = kLineElements<T>;
  map<kElements>(y.data(), n, 2, streaming, [](T* out) { std::fill_n(out, kElements, T{4}); });
  EXPECT_EQ(std::count(y.begin(), y.end(), T{4}), n);
  EXPECT_EQ(y.back(), 9);
}

template <class T>
void expect_map_is_right() {
  for (const bool streaming : {false, true}) {
    for (const std::int64_t n : {0, 1, 17, 255, 256, 257, 1000, 10007}) {
      expect_every_element_written<T>(n, streaming);
      for (const std::int64_t offset : {0, 1, 7}) {
        expect_every_element_once<T>(n, offset, streaming);
      }
    }
  }
}

TEST(Map, WritesEveryElementOnceAndNothingElse) {
  expect_map_is_right<float>();
  expect_map_is_right<std::uint16_t>();
  expect_map_is_right<std::uint8_t>();
}

TEST(Map, StreamingPaysOnlyBeyondWhatTheLastLevelCacheKeeps) {
  EXPECT_GT(last_level_cache_bytes(), 0);
  // Two arrays of 4-byte elements.
  const std::int64_t fitting = std::min(last_level_cache_bytes(), kMostKept) / 8;
  EXPECT_FALSE(streaming_pays<float>(fitting));
  EXPECT_TRUE(streaming_pays<float>(fitting + 1));
}

}  // namespace
}  // namespace ridgebench::cpu
