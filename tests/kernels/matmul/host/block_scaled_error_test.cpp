// What block scales are for: the errors of fp8 products of numbers with outliers, by one scale for
// a whole matrix and by block scales. docs/matmul_formats.md has the table, which this test checks.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "kernels/common/reference/product.hpp"
#include "kernels/matmul/block_scales.hpp"
#include "tests/support/host_run.hpp"

namespace ridgebench {
namespace {

constexpr std::int64_t kRowsOfA = 128;
constexpr std::int64_t kRowsOfB = 256;
constexpr std::int64_t kDepth = 1024;
constexpr std::int64_t kRowsOfAnOutlier = 16;  // of A, one of which has one

// What `measure` returns for `packed`, with the newest instruction set.
template <class Measure>
double with_packed(std::string_view operation, const Measure& measure) {
  double result = std::nan("");
  for_each_host_technique(operation, [&](const Implementation& i) {
    if (i.technique.name == "packed" && i.format == FormatPair(Format::fp8_e4m3)) {
      result = measure(i);
    }
  });
  return result;
}

const Shape& shape() {
  static const Shape of_all({{"m", kRowsOfA}, {"n", kRowsOfB}, {"k", kDepth}}, Layout::nt);
  return of_all;
}

std::vector<float> normal_numbers(std::int64_t count, std::uint32_t stream) {
  std::vector<float> x(static_cast<std::size_t>(count));
  fill_random(x.data(), count, Format::fp32, Fill::normal, 1, stream, 1);
  return x;
}

// Numbers of `lines` lines of kDepth, in blocks of this many lines and numbers of a line.
struct Blocks {
  std::int64_t lines;
  std::int64_t height;
  std::int64_t width;

  [[nodiscard]] std::int64_t across() const { return ceil_div(kDepth, width); }
  [[nodiscard]] std::size_t of(std::int64_t line, std::int64_t k) const {
    return static_cast<std::size_t>(line / height * across() + k / width);
  }
};

// The scale of each block: its largest magnitude over that of fp8_e4m3, as DeepSeek-V3 chooses it.
std::vector<float> scales_of(const std::vector<float>& x, const Blocks& blocks) {
  std::vector<float> scales(
      static_cast<std::size_t>(ceil_div(blocks.lines, blocks.height) * blocks.across()), 0);
  for (std::int64_t i = 0; i < blocks.lines * kDepth; ++i) {
    float& scale = scales[blocks.of(i / kDepth, i % kDepth)];
    const auto most = static_cast<float>(info(Format::fp8_e4m3).max_finite());
    scale = std::max(scale, std::abs(x[static_cast<std::size_t>(i)]) / most);
  }
  return scales;
}

void quantise(const std::vector<float>& x, const Blocks& blocks, const std::vector<float>& scales,
              void* out) {
  auto* const numbers = static_cast<Fp8E4m3*>(out);
  for (std::int64_t i = 0; i < blocks.lines * kDepth; ++i) {
    numbers[i] =
        encode<Fp8E4m3>(x[static_cast<std::size_t>(i)] / scales[blocks.of(i / kDepth, i % kDepth)]);
  }
}

// Mean over the rows of C of ||C - exact|| / ||exact||; C counts `scale` times.
double error(HostRun& run, double scale, const std::vector<Expected>& exact) {
  double sum = 0;
  for (std::int64_t i = 0; i < kRowsOfA; ++i) {
    double difference = 0;
    double size = 0;
    for (std::int64_t j = i * kRowsOfB; j < (i + 1) * kRowsOfB; ++j) {
      const double expected = exact[static_cast<std::size_t>(j)].value;
      difference += std::pow(scale * run.output().view()[j] - expected, 2);
      size += expected * expected;
    }
    sum += std::sqrt(difference / size) / kRowsOfA;
  }
  return sum;
}

struct Inputs {
  std::vector<float> a = normal_numbers(kRowsOfA * kDepth, 0);
  std::vector<float> b = normal_numbers(kRowsOfB * kDepth, 1);
  std::vector<Expected> exact{kRowsOfA * kRowsOfB, Expected{}};

  explicit Inputs(float outlier) {
    for (std::int64_t row = 0; row < kRowsOfA; row += kRowsOfAnOutlier) {
      a[static_cast<std::size_t>(row * kDepth + 37 * row % kDepth)] = outlier;
    }
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < kRowsOfA; ++row) rows.push_back(row);
    product_reference(shape(), rows, {}, {a.data(), Format::fp32}, {b.data(), Format::fp32}, exact);
  }
};

double error_per_tensor(const Inputs& in) {
  const Blocks of_a{kRowsOfA, kRowsOfA, kDepth};
  const Blocks of_b{kRowsOfB, kRowsOfB, kDepth};
  const std::vector<float> scale_a = scales_of(in.a, of_a);
  const std::vector<float> scale_b = scales_of(in.b, of_b);
  return with_packed("matmul", [&](const Implementation& packed) {
    HostRun run(packed, shape());
    quantise(in.a, of_a, scale_a, run.array(0).data());
    quantise(in.b, of_b, scale_b, run.array(1).data());
    EXPECT_TRUE(run.launch());
    return error(run, double{scale_a[0]} * scale_b[0], in.exact);
  });
}

double error_of_blocks(const Inputs& in) {
  const Blocks of_a{kRowsOfA, 1, kScaleBlock};
  const Blocks of_b{kRowsOfB, kScaleBlock, kScaleBlock};
  const std::vector<float> scale_a = scales_of(in.a, of_a);
  const std::vector<float> scale_b = scales_of(in.b, of_b);
  return with_packed("matmul_block_scaled", [&](const Implementation& packed) {
    HostRun run(packed, shape());
    quantise(in.a, of_a, scale_a, run.array(0).data());
    quantise(in.b, of_b, scale_b, run.array(1).data());
    auto* const stored_a = static_cast<float*>(run.array(2).data());
    for (std::int64_t i = 0; i < kRowsOfA * kDepth; i += kScaleBlock) {
      stored_a[scale_index_a(i / kDepth, i % kDepth, kRowsOfA)] =
          scale_a[of_a.of(i / kDepth, i % kDepth)];
    }
    std::memcpy(run.array(3).data(), scale_b.data(), scale_b.size() * sizeof(float));
    EXPECT_TRUE(run.launch());
    return error(run, 1, in.exact);
  });
}

TEST(BlockScaledErrors, ThePageHasThem) {
  std::string table;
  for (const auto& [outlier, text] :
       {std::pair(1.0F, "none"), std::pair(1e3F, "1,000"), std::pair(1e4F, "10,000"),
        std::pair(1e5F, "100,000"), std::pair(1e6F, "1,000,000")}) {
    const Inputs in(outlier);
    table += fmt::format("| {} | {:.2g} % | {:.2g} % |\n", text, 100 * error_per_tensor(in),
                         100 * error_of_blocks(in));
  }
  std::ifstream file(RIDGEBENCH_SOURCE_DIR "/docs/matmul_formats.md");
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_NE(page.str().find(table), std::string::npos) << "the table of errors is now\n" << table;
}

// A block that an outlier spoils has 127 other numbers; a matrix has all of them.
TEST(BlockScaledErrors, AnOutlierSpoilsItsBlockOnly) {
  const Inputs in(1e6F);
  EXPECT_GT(error_per_tensor(in), 10 * error_of_blocks(in));
}

}  // namespace
}  // namespace ridgebench
