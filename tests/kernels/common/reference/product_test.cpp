// The reference of products of long sums and long rows: its memory does not grow with them.
#include "kernels/common/reference/product.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "kernels/common/random.hpp"

namespace ridgebench {
namespace {

using ::testing::ExitedWithCode;

constexpr double kEpsilon = 1e-13;

struct Matrices {
  explicit Matrices(const Shape& shape)
      : a(static_cast<std::size_t>(shape["m"] * shape["k"])),
        b(static_cast<std::size_t>(shape["k"] * shape["n"])) {
    fill_random(a.data(), std::ssize(a), Format::fp32, Fill::normal, 1, 0, 1);
    fill_random(b.data(), std::ssize(b), Format::fp32, Fill::normal, 1, 1, 1);
  }
  [[nodiscard]] View left() const { return {a.data(), Format::fp32}; }
  [[nodiscard]] View right() const { return {b.data(), Format::fp32}; }

  std::vector<float> a;
  std::vector<float> b;
};

Shape product_of(std::int64_t m, std::int64_t n, std::int64_t k, Layout layout) {
  return Shape({{"m", m}, {"n", n}, {"k", k}}, layout);
}

Expected element(const Matrices& all, const Shape& s, std::int64_t i, std::int64_t j) {
  Expected sum{0, 0};
  for (std::int64_t p = 0; p < s["k"]; ++p) {
    const double x =
        s.layout() == Layout::tn ? all.left()[p * s["m"] + i] : all.left()[i * s["k"] + p];
    const double y =
        s.layout() == Layout::nt ? all.right()[j * s["k"] + p] : all.right()[p * s["n"] + j];
    sum.value += x * y;
    sum.norm += x * x * y * y;
  }
  return {sum.value, std::sqrt(sum.norm)};
}

TEST(ProductReference, AddsUpMoreTermsThanItPacksAtOnce) {
  for (const Layout layout : {Layout::nt, Layout::nn, Layout::tn}) {
    const Shape shape = product_of(5, 9, 9001, layout);
    const Matrices all(shape);
    const std::vector<std::int64_t> rows{0, 2, 4};
    std::vector<Expected> out(rows.size() * 9, {7, 7});  // which must not count
    product_reference(shape, rows, {}, all.left(), all.right(), out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const Expected e = element(all, shape, rows[i / 9], at % 9);
      EXPECT_NEAR(out[i].value, e.value, kEpsilon * e.norm * 100) << i;
      EXPECT_NEAR(out[i].norm, e.norm, kEpsilon * e.norm * 100) << i;
    }
  }
}

TEST(ProductReference, PartsOfARowAreTheRow) {
  for (const Layout layout : {Layout::nt, Layout::nn}) {
    const Shape shape = product_of(2, 10007, 3, layout);
    const Matrices all(shape);
    const std::vector<std::int64_t> rows{1};
    const std::vector<double> signs(10007, -1);
    for (const std::int64_t length : {1, 8, 5000}) {
      const std::int64_t step = 2 * length;
      std::vector<Expected> parts;
      for (std::int64_t first = 0; first < 10007; first += step) {
        const Groups part{length, signs, first, std::min<std::int64_t>(step, 10007 - first)};
        std::vector<Expected> out(static_cast<std::size_t>((part.columns + length - 1) / length));
        product_reference(shape, rows, part, all.left(), all.right(), out);
        parts.insert(parts.end(), out.begin(), out.end());
      }
      std::vector<Expected> whole(static_cast<std::size_t>((10007 + length - 1) / length));
      product_reference(shape, rows, {length, signs}, all.left(), all.right(), whole);
      ASSERT_EQ(parts.size(), whole.size());
      for (std::size_t i = 0; i < whole.size(); ++i) {
        EXPECT_NEAR(parts[i].value, whole[i].value, kEpsilon * whole[i].norm);
        EXPECT_NEAR(parts[i].norm, whole[i].norm, kEpsilon * whole[i].norm);
      }
    }
  }
}

// Numbers that are scaled beforehand have the same product, with few outputs and with many.
TEST(ProductReference, MultipliesByScales) {
  for (const std::int64_t n : {3, 21}) {
    const Shape shape = product_of(5, n, 300, Layout::nt);
    const Matrices all(shape);
    const auto scale_a = [](std::int64_t row, std::int64_t k) {
      return static_cast<double>(1 + row + k / 128);
    };
    const auto scale_b = [](std::int64_t column, std::int64_t k) {
      return static_cast<double>(2 - column + k);
    };
    Matrices scaled = all;
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    const auto scale = [&](std::vector<float>& x, const auto& scale_of) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto number = static_cast<std::int64_t>(i);
        x[i] = static_cast<float>(x[i] * scale_of(number / 300, number % 300));
      }
    };
    scale(scaled.a, scale_a);
    scale(scaled.b, scale_b);
    const auto multiply_by = [](auto scale_of) -> MultiplyByScales {
      return [=](std::int64_t row, std::int64_t first, std::span<double> numbers) {
        for (double& x : numbers) x *= scale_of(row, first++);
      };
    };
    const std::vector<std::int64_t> rows{1, 4};
    std::vector<Expected> out(2 * at(n));
    product_reference(shape, rows, {}, all.left(), all.right(), out,
                      {multiply_by(scale_a), multiply_by(scale_b)});
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto column = static_cast<std::int64_t>(i) % n;
      const Expected e = element(scaled, shape, rows[i / at(n)], column);
      EXPECT_NEAR(out[i].value, e.value, 1e-6 * e.norm) << i;  // fp32 rounds what is scaled
      EXPECT_NEAR(out[i].norm, e.norm, 1e-6 * e.norm) << i;
    }
  }
}

// Limits the address space to what the process has now and `more` bytes.
void leave_bytes(rlim_t more) {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more;
  setrlimit(RLIMIT_AS, &limit);
}

// One row of A and one column of B, padded to tiles in double, would be 2.7 GB.
TEST(ProductReferenceDeathTest, ItsMemoryDoesNotGrowWithTheSum) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto compute = [] {
    const Shape shape = product_of(1, 1, std::int64_t{1} << 23U, Layout::nt);
    const Matrices all(shape);
    const std::vector<std::int64_t> rows{0};
    std::vector<Expected> out(1);
    leave_bytes(rlim_t{1} << 30U);
    product_reference(shape, rows, {}, all.left(), all.right(), out);
    std::_Exit(std::isfinite(out[0].value) ? 0 : 1);
  };
  EXPECT_EXIT(compute(), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ridgebench
