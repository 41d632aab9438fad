// The packing and the indices of the AMX technique with tiles emulated in software, and the
// emulation against the processor's tiles where it has them.
#include "kernels/common/cpu/amx.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/gelu.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/product_strides.hpp"
#include "kernels/common/random.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/block_scales.hpp"
#include "tests/support/host_queue.hpp"

#define RIDGEBENCH_ISA v2
#define RIDGEBENCH_ISA_LEVEL 2
#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/matmul/host/pack.hpp"
#include "kernels/matmul/host/amx_kernel.hpp"
#include "kernels/matmul/host/blocked_product.hpp"
#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

using cpu::kTileRows;
using cpu::kTileWords;

// A number as TDPBF16PS reads and writes it: denormals count as zero.
float flushed(float x) { return std::abs(x) < std::numeric_limits<float>::min() ? 0 : x; }

// TDPBF16PS by its pseudocode in the manual: it sums the first products of all pairs and the second
// products separately, adds both sums to C, and rounds and flushes after every step.
class EmulatedTiles {
 public:
  static void begin() {}
  static void end() {}

  template <int Tile>
  void tilezero() {
    std::memset(tiles_[Tile], 0, sizeof tiles_[Tile]);
  }
  template <int Tile>
  void tileloadd(const void* from, std::int64_t stride) {
    for (int i = 0; i < kTileRows; ++i) {
      std::memcpy(tiles_[Tile][i], static_cast<const char*>(from) + i * stride, kTileWords * 4);
    }
  }
  template <int Tile>
  void tilestored(void* to, std::int64_t stride) {
    for (int i = 0; i < kTileRows; ++i) {
      std::memcpy(static_cast<char*>(to) + i * stride, tiles_[Tile][i], kTileWords * 4);
    }
  }
  template <int C, int A, int B>
  void tdpbf16ps() {
    for (int i = 0; i < kTileRows; ++i) {
      for (int j = 0; j < kTileWords; ++j) {
        float even = 0;
        float odd = 0;
        for (int p = 0; p < kTileWords; ++p) {
          even = flushed(std::fma(half(tiles_[A][i][p], 0), half(tiles_[B][p][j], 0), even));
          odd = flushed(std::fma(half(tiles_[A][i][p], 1), half(tiles_[B][p][j], 1), odd));
        }
        const float sum = flushed(std::bit_cast<float>(tiles_[C][i][j])) + flushed(even + odd);
        tiles_[C][i][j] = std::bit_cast<std::uint32_t>(flushed(sum));
      }
    }
  }

 private:
  static float half(std::uint32_t pair, int which) {
    return flushed(std::bit_cast<float>(which == 0 ? pair << 16U : pair & 0xffff0000U));
  }
  std::uint32_t tiles_[8][kTileRows][kTileWords] = {};
};

using Emulated = AmxKernel<EmulatedTiles>;

// Small integers, so that every sum is exact and its order does not matter.
template <class T>
std::vector<T> integers(std::int64_t count, std::uint32_t stream) {
  std::vector<T> x(static_cast<std::size_t>(count));
  fill_random(x.data(), count, FormatOf<T>::value, Fill::integers, 1, stream, 1);
  return x;
}

template <class A, class B>
void expect_exact_product(const Shape& s, int threads = 2) {
  SCOPED_TRACE(s.text());
  const std::int64_t m = s["m"];
  const std::int64_t n = s["n"];
  const std::int64_t k = s["k"];
  const std::vector<A> a = integers<A>(m * k, 0);
  const std::vector<B> b = integers<B>(k * n, 1);
  std::vector<Bf16> c(static_cast<std::size_t>(m * n));
  HostQueue queue(threads);
  const Workspace workspace = prepare<Emulated>(queue, s);
  bind<Emulated>(queue, workspace, s, a.data(), b.data(), c.data())();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        sum +=
            decode(a[static_cast<std::size_t>(s.layout() == Layout::tn ? p * m + i : i * k + p)]) *
            decode(b[static_cast<std::size_t>(s.layout() == Layout::nt ? j * k + p : p * n + j)]);
      }
      ASSERT_EQ(c[static_cast<std::size_t>(i * n + j)].bits, encode<Bf16>(sum).bits)
          << i << ' ' << j;
    }
  }
}

// Ragged in every dimension: tiles of 16, micro-kernels of 32, blocks of 256, steps of 32 and 256
// in k.
const std::vector<Shape> kShapes = [] {
  std::vector<Shape> shapes;
  for (const Layout layout : {Layout::nt, Layout::nn, Layout::tn}) {
    for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                                          {16, 16, 32},
                                                                          {17, 15, 33},
                                                                          {31, 33, 31},
                                                                          {32, 32, 256},
                                                                          {33, 65, 257},
                                                                          {7, 300, 2},
                                                                          {257, 259, 65},
                                                                          {5, 3, 1031}}) {
      shapes.emplace_back(std::vector<Shape::Dimension>{{"m", m}, {"n", n}, {"k", k}}, layout);
    }
  }
  return shapes;
}();

TEST(Amx, EmulatedTilesGiveTheExactProductOfBf16) {
  for (const Shape& shape : kShapes) expect_exact_product<Bf16, Bf16>(shape);
}

// Some threads have one tile of rows, some none, some no columns of B to pack.
TEST(Amx, AnyNumberOfThreadsMultiplies) {
  for (const int threads : {1, 3, 4, 5, 8}) {
    for (const auto& [m, n] : std::vector<std::array<std::int64_t, 2>>{{96, 200}, {150, 33}}) {
      SCOPED_TRACE(threads);
      expect_exact_product<Bf16, Bf16>(Shape({{"m", m}, {"n", n}, {"k", 300}}, Layout::nt),
                                       threads);
    }
  }
}

TEST(Amx, Fp8IsWidenedWhilePackingAlsoMixed) {
  for (const Shape& shape : kShapes) {
    expect_exact_product<Fp8E4m3, Fp8E4m3>(shape);
    expect_exact_product<Fp8E5m2, Fp8E4m3>(shape);
  }
}

TEST(Amx, TheCeilingRepeatsOneProduct) {
  constexpr std::int64_t kTimes = 5;
  const std::vector<Bf16> a = integers<Bf16>(32 * 32, 0);
  const std::vector<Bf16> b = integers<Bf16>(32 * 32, 1);
  std::vector<float> c(32 * 32, std::numeric_limits<float>::quiet_NaN());
  cpu::repeat_amx_product<EmulatedTiles>(kTimes, a.data(), b.data(), c.data());
  for (std::size_t i = 0; i < 32; ++i) {
    for (std::size_t j = 0; j < 32; ++j) {
      float sum = 0;
      for (std::size_t p = 0; p < 32; ++p) sum += decode(a[i * 32 + p]) * decode(b[j * 32 + p]);
      EXPECT_EQ(c[i * 32 + j], kTimes * sum) << i << ' ' << j;
    }
  }
}

TEST(Amx, DenormalsCountAsZero) {
  const Shape shape({{"m", 1}, {"n", 1}, {"k", 2}}, Layout::nt);
  const std::vector<Bf16> a{Bf16{0x0001}, encode<Bf16>(3)};
  const std::vector<Bf16> b{encode<Bf16>(0x1p127F), encode<Bf16>(1)};
  Bf16 c{};
  HostQueue queue;
  const Workspace workspace = prepare<Emulated>(queue, shape);
  bind<Emulated>(queue, workspace, shape, a.data(), b.data(), &c)();
  EXPECT_EQ(decode(c), 3.0F);
}

#if defined(__x86_64__)
TEST(Amx, ProcessorAgreesWithTheEmulation) {
  if (!cpu::amx_bf16_available()) GTEST_SKIP() << "this processor has no AMX bf16";
  constexpr std::int64_t kWords = 256;
  const std::vector<Bf16> a = integers<Bf16>(2 * 32 * kWords, 0);
  const std::vector<Bf16> b = integers<Bf16>(2 * 32 * kWords, 1);
  const auto* a_words = reinterpret_cast<const std::uint32_t*>(a.data());
  const auto* b_words = reinterpret_cast<const std::uint32_t*>(b.data());
  const auto twice = [&](auto kernel) {
    std::vector<float> c(32 * 32, std::numeric_limits<float>::quiet_NaN());
    kernel.begin();
    for (const bool add : {false, true}) {
      cpu::PrefetchLines none;
      kernel.multiply(kWords, a_words, kernel.run, b_words, c.data(), add, none);
    }
    kernel.end();
    return c;
  };
  EXPECT_EQ(twice(AmxKernel<cpu::AmxTiles>()), twice(Emulated()));
}
#endif

}  // namespace
}  // namespace ridgebench
