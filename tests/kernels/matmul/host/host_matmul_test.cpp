#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <set>

#include "kernels/matmul/block_scales.hpp"
#include "tests/support/host_run.hpp"

namespace ridgebench {
namespace {

Shape product(std::int64_t m, std::int64_t n, std::int64_t k, Layout layout) {
  return Shape({{"m", m}, {"n", n}, {"k", k}}, layout);
}

// m, n, k: one; near the register tiles (6 x 8, 16, 64) and AMX's tile; near the blocks (192 x 256)
// and the steps of k (128 to 1024 words); several bands of several blocks for each thread; primes;
// long and thin.
constexpr std::array<std::array<std::int64_t, 3>, 11> kSizes{{{1, 1, 1},
                                                              {5, 7, 3},
                                                              {7, 9, 15},
                                                              {13, 17, 33},
                                                              {33, 65, 63},
                                                              {97, 257, 129},
                                                              {193, 521, 31},
                                                              {400, 300, 133},
                                                              {3, 2, 1031},
                                                              {1, 300, 40},
                                                              {300, 1, 41}}};

TEST(HostMatmul, EveryTechniqueIsRightInEveryLayoutAndExactOnIntegers) {
  for_each_host_technique("matmul", [](const Implementation& implementation) {
    for (const Layout layout : {Layout::nt, Layout::nn, Layout::tn}) {
      for (const auto& [m, n, k] : kSizes) {
        expect_right(implementation, product(m, n, k, layout), 1, true);
      }
    }
  });
}

TEST(HostMatmul, EveryFusedTechniqueIsRight) {
  for_each_host_technique("matmul_gelu", [](const Implementation& implementation) {
    for (const auto& [m, n, k] : kSizes) {
      expect_right(implementation, product(m, n, k, Layout::nt), 1, false);
    }
  });
}

// k and n of several blocks of 128, of 32 and of 16, and parts of one.
TEST(HostMatmul, EveryBlockScaledTechniqueIsRight) {
  for (const char* const operation : {"matmul_block_scaled", "matmul_mxfp8", "matmul_nvfp4"}) {
    for_each_host_technique(operation, [](const Implementation& implementation) {
      const std::int64_t per_element = info(implementation.format.a).numbers();
      for (const auto& [m, n, k] : kSizes) {
        expect_right(implementation, product(m, n, k * per_element, Layout::nt), 1, false);
      }
      for (const auto& [m, n, k] : {std::array{17, 300, 700}, {40, 129, 1153}, {7, 256, 256}}) {
        expect_right(implementation, product(m, n, round_up(k, per_element), Layout::nt), 1, false);
      }
    });
  }
}

// By the bytes that cuBLAS documents for a tile of 128 lines and 4 blocks.
TEST(HostMatmul, TheScalesOfMxfp8LieInTiles) {
  constexpr std::int64_t depth = 256;  // two tiles
  const auto index = [](std::int64_t line, std::int64_t k) {
    return Mxfp8::index_a(line, k, 300, depth);
  };
  EXPECT_EQ(index(0, 31), 0);
  EXPECT_EQ(index(0, 32), 1);
  EXPECT_EQ(index(32, 0), 4);
  EXPECT_EQ(index(1, 0), 16);
  EXPECT_EQ(index(127, 96), 511);
  EXPECT_EQ(index(0, 128), 512);
  EXPECT_EQ(index(128, 0), 1024);
  EXPECT_EQ(Mxfp8::count_a(300, depth), 3 * 2 * 512);
  EXPECT_EQ(Mxfp8::count_a(1, 1), 512);
  EXPECT_EQ(Mxfp8::needed_a(300, 225), 300 * 8);
  std::set<std::int64_t> taken;
  for (std::int64_t line = 0; line < 384; ++line) {
    for (std::int64_t k = 0; k < depth; k += 32) taken.insert(index(line, k));
  }
  EXPECT_EQ(std::ssize(taken), 3072);
  EXPECT_EQ(*taken.rbegin(), 3071);
  // The scales of nvfp4 lie so too, for half of the numbers.
  EXPECT_EQ(Nvfp4::index_a(127, 48, 300, depth / 2), 511);
  EXPECT_EQ(Nvfp4::index_a(0, 64, 300, depth / 2), 512);
  EXPECT_EQ(Nvfp4::count_a(300, depth / 2), Mxfp8::count_a(300, depth));
}

// Writes value(i) into element i of an operand.
void fill_operand(HostRun& run, std::size_t index, auto value) {
  GuardedArray& array = run.array(index);
  const Format format = array.operand().format;
  const auto width = static_cast<std::size_t>(info(format).storage_bytes);
  for (std::int64_t i = 0; i < array.operand().elements; ++i) {
    const auto bits = stored_bits(format, value(i));
    std::memcpy(static_cast<std::byte*>(array.data()) + static_cast<std::size_t>(i) * width, &bits,
                width);
  }
}

// Ones times one scale each: an element of C shows which scales met in it. Every scale is a power
// of two, so that sums are exact.
TEST(HostMatmul, EveryNumberMeetsItsOwnScale) {
  constexpr std::int64_t kM = 3;
  constexpr std::int64_t kN = 257;
  constexpr std::int64_t kK = 130;
  for_each_host_technique("matmul_block_scaled", [](const Implementation& implementation) {
    HostRun run(implementation, product(kM, kN, kK, Layout::nt));
    fill_operand(run, 0, [](std::int64_t) { return 1; });
    fill_operand(run, 1, [](std::int64_t) { return 1; });
    // 1, 2, 4 in the first block of k; 8, 16, 32 in the second, which has two numbers.
    fill_operand(run, 2, [](std::int64_t i) { return std::exp2(static_cast<double>(i)); });
    // Blocks of k are neighbours: 1, 2; 4, 8; 16, 32.
    fill_operand(run, 3, [](std::int64_t i) { return std::exp2(static_cast<double>(i)); });
    ASSERT_TRUE(run.launch());
    for (std::int64_t i = 0; i < kM; ++i) {
      for (std::int64_t j = 0; j < kN; ++j) {
        const double first = std::exp2(static_cast<double>(i + 2 * (j / 128)));
        const double second = std::exp2(static_cast<double>(3 + i + 2 * (j / 128) + 1));
        const double sum = 128 * first + 2 * second;
        ASSERT_EQ(run.output().view()[i * kN + j], sum) << i << ' ' << j;
      }
    }
  });
}

// The same with a whole block of k and two numbers of the next one. Bytes of the padding are NaN.
template <class Scales>
void expect_own_scales(const char* operation) {
  constexpr std::int64_t kM = 40;
  constexpr std::int64_t kN = 3;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for_each_host_technique(operation, [](const Implementation& implementation) {
    HostRun run(implementation, product(kM, kN, Scales::kBlock + 2, Layout::nt));
    fill_operand(run, 0, [](std::int64_t) { return 1; });
    fill_operand(run, 1, [](std::int64_t) { return 1; });
    const auto scale_at = [](std::int64_t i, std::int64_t lines) {
      const std::int64_t line = i / 16 + i / 4 % 4 * 32;
      const std::int64_t block = i % 4;
      return line < lines && block < 2 ? std::exp2(static_cast<double>(line % 5 + 3 * block))
                                       : kNan;
    };
    fill_operand(run, 2, [&](std::int64_t i) { return scale_at(i, kM); });
    fill_operand(run, 3, [&](std::int64_t i) { return scale_at(i, kN); });
    ASSERT_TRUE(run.launch());
    for (std::int64_t i = 0; i < kM; ++i) {
      for (std::int64_t j = 0; j < kN; ++j) {
        const double both = std::exp2(static_cast<double>(i % 5 + j));
        const double sum = static_cast<double>(Scales::kBlock) * both + 2 * std::exp2(6) * both;
        EXPECT_EQ(run.output().view()[i * kN + j], decode(encode<Bf16>(static_cast<float>(sum))));
      }
    }
  });
}

TEST(HostMatmul, EveryNumberOfMxfp8AndNvfp4MeetsItsOwnScale) {
  expect_own_scales<Mxfp8>("matmul_mxfp8");
  expect_own_scales<Nvfp4>("matmul_nvfp4");
}

// Pairs whose halves differ, so that a technique which swaps them is wrong.
TEST(HostMatmul, TheNumbersOfAPairHaveTheirOrder) {
  constexpr std::int64_t kK = 90;
  for_each_host_technique("matmul_nvfp4", [](const Implementation& implementation) {
    HostRun run(implementation, product(1, 1, kK, Layout::nt));
    const auto fill = [&](std::size_t operand, std::uint8_t pair) {
      std::memset(run.array(operand).data(), pair, kK / 2);
    };
    fill(0, 0x72);  // 1, 6
    fill(1, 0x14);  // 2, 0.5
    fill_operand(run, 2, [](std::int64_t) { return 1; });
    fill_operand(run, 3, [](std::int64_t) { return 1; });
    ASSERT_TRUE(run.launch());
    EXPECT_EQ(run.output().view()[0], decode(encode<Bf16>(kK / 2 * 5)));
  });
}

// A NaN in A reaches its row only, and one in B its column only, with every padding.
TEST(HostMatmul, NanReachesItsRowAndColumnOnly) {
  constexpr std::int64_t kM = 37;
  constexpr std::int64_t kN = 71;
  constexpr std::int64_t kK = 35;
  for_each_host_technique("matmul", [](const Implementation& implementation) {
    if (implementation.technique.origin != Origin::hand) return;  // a library may differ
    for (const Layout layout : {Layout::nt, Layout::nn, Layout::tn}) {
      HostRun run(implementation, product(kM, kN, kK, layout));
      run.fill(Fill::normal);
      run.array(0).set_nan(layout == Layout::tn ? 34 * kM + 36 : 36 * kK + 34);
      run.array(1).set_nan(layout == Layout::nt ? 70 * kK + 34 : 34 * kN + 70);
      if (!run.launch()) return;
      for (std::int64_t i = 0; i < kM * kN; ++i) {
        const bool struck = i / kN == 36 || i % kN == 70;
        ASSERT_EQ(std::isnan(run.output().view()[i]), struck) << i / kN << ' ' << i % kN;
      }
    }
  });
}

// A column of all code points of an 8- or 16-bit format times one: each comes back where every
// conversion is right at every instruction set. Techniques that compute in bf16 flush denormals,
// and are left out.
TEST(HostMatmul, WideningKeepsEveryCodePoint) {
  for_each_host_technique("matmul", [](const Implementation& implementation) {
    const Technique& technique = implementation.technique;
    const FormatInfo& format = info(implementation.format.a);
    const bool narrow = format.bits() <= 16 && !implementation.format.mixed();
    if (technique.arithmetic != Format::fp32 || !narrow) return;
    const std::int64_t count = std::int64_t{1} << format.bits();
    const Shape shape = product(count, 1, 1, Layout::nt);
    HostRun run(implementation, shape);
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<char*>(run.array(0).data()) + i * format.storage_bytes, &i,
                  static_cast<std::size_t>(format.storage_bytes));
    }
    const std::uint32_t one = encode_bits(format, 1);
    std::memcpy(run.array(1).data(), &one, static_cast<std::size_t>(format.storage_bytes));
    if (!run.launch()) return;  // oneDNN's bf16 on some processors
    for (std::int64_t i = 0; i < count; ++i) {
      const double expected = run.array(0).view()[i];
      const double actual = run.output().view()[i];
      ASSERT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected))) << i;
    }
  });
}

}  // namespace
}  // namespace ridgebench
