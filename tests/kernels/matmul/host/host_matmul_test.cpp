#include <array>
#include <bit>
#include <cmath>
#include <cstring>

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

// k and n of several blocks of 128, and parts of one.
TEST(HostMatmul, EveryBlockScaledTechniqueIsRight) {
  for_each_host_technique("matmul_block_scaled", [](const Implementation& implementation) {
    for (const auto& [m, n, k] : kSizes) {
      expect_right(implementation, product(m, n, k, Layout::nt), 1, false);
    }
    for (const auto& [m, n, k] : {std::array{17, 300, 700}, {40, 129, 1153}, {7, 256, 256}}) {
      expect_right(implementation, product(m, n, k, Layout::nt), 1, false);
    }
  });
}

// Ones times one scale each: an element of C shows which scales met in it. Every scale is a power
// of two, so that sums are exact.
TEST(HostMatmul, EveryNumberMeetsItsOwnScale) {
  constexpr std::int64_t kM = 3;
  constexpr std::int64_t kN = 257;
  constexpr std::int64_t kK = 130;
  for_each_host_technique("matmul_block_scaled", [](const Implementation& implementation) {
    HostRun run(implementation, product(kM, kN, kK, Layout::nt));
    const auto fill = [&](std::size_t operand, auto value) {
      for (std::int64_t i = 0; i < run.array(operand).operand().elements; ++i) {
        const auto width =
            static_cast<std::size_t>(info(run.array(operand).operand().format).storage_bytes);
        const auto bits = stored_bits(run.array(operand).operand().format, value(i));
        std::memcpy(static_cast<std::byte*>(run.array(operand).data()) +
                        static_cast<std::size_t>(i) * width,
                    &bits, width);
      }
    };
    fill(0, [](std::int64_t) { return 1; });
    fill(1, [](std::int64_t) { return 1; });
    // 1, 2, 4 in the first block of k; 8, 16, 32 in the second, which has two numbers.
    fill(2, [](std::int64_t i) { return std::exp2(static_cast<double>(i)); });
    // Blocks of k are neighbours: 1, 2; 4, 8; 16, 32.
    fill(3, [](std::int64_t i) { return std::exp2(static_cast<double>(i)); });
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
