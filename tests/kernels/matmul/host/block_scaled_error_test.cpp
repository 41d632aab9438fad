// What block scales are for: the errors of fp8 products of numbers with outliers, by one scale for
// a whole matrix, by block scales in fp32 and by those of mxfp8, and those of nvfp4.
// docs/matmul_formats.md has the table, which this test checks.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <type_traits>
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
    const bool chosen = operation != "matmul" || i.format == FormatPair(Format::fp8_e4m3);
    if (i.technique.name == "packed" && chosen) result = measure(i);
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

// The scale of each block: its largest magnitude over that of a number, as DeepSeek-V3 chooses it.
template <class Number = Fp8E4m3>
std::vector<float> scales_of(const std::vector<float>& x, const Blocks& blocks) {
  std::vector<float> scales(
      static_cast<std::size_t>(ceil_div(blocks.lines, blocks.height) * blocks.across()), 0);
  for (std::int64_t i = 0; i < blocks.lines * kDepth; ++i) {
    float& scale = scales[blocks.of(i / kDepth, i % kDepth)];
    const auto most = static_cast<float>(info(Number::format).max_finite());
    scale = std::max(scale, std::abs(x[static_cast<std::size_t>(i)]) / most);
  }
  return scales;
}

// `of_matrix` multiplies all scales.
template <class Number = Fp8E4m3>
void quantise(const std::vector<float>& x, const Blocks& blocks, const std::vector<float>& scales,
              float of_matrix, void* out) {
  const FormatInfo& format = info(Number::format);
  const std::int64_t count = blocks.lines * kDepth;
  auto* const elements = static_cast<std::uint8_t*>(out);
  std::fill_n(elements, count / format.numbers(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const float scale = of_matrix * scales[blocks.of(i / kDepth, i % kDepth)];
    const std::uint32_t bits = encode_bits(format, x[static_cast<std::size_t>(i)] / scale);
    const auto place = static_cast<unsigned>(i % format.numbers() * format.bits());
    elements[i / format.numbers()] |= static_cast<std::uint8_t>(bits << place);
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
    quantise(in.a, of_a, scale_a, 1, run.array(0).data());
    quantise(in.b, of_b, scale_b, 1, run.array(1).data());
    EXPECT_TRUE(run.launch());
    return error(run, double{scale_a[0]} * scale_b[0], in.exact);
  });
}

// One factor of all scales of a matrix: those of nvfp4 reach up to 448 only, so that the largest
// one becomes 448. Source: NVIDIA, "Introducing NVFP4", 2025.
template <class Scales>
float scale_of_matrix(const std::vector<float>& x) {
  if constexpr (std::is_same_v<Scales, Nvfp4>) {
    const std::vector<float> one =
        scales_of<typename Scales::Number>(x, {std::ssize(x) / kDepth, std::ssize(x), kDepth});
    return one.front() / static_cast<float>(info(Format::fp8_e4m3).max_finite());
  } else {
    return 1;
  }
}

// The scales of blocks, times that of the matrix, as their format holds them.
template <class Scales>
std::vector<float> rounded_scales_of(const std::vector<float>& x, const Blocks& blocks,
                                     float of_matrix) {
  std::vector<float> scales = scales_of<typename Scales::Number>(x, blocks);
  for (float& scale : scales) scale = decode(encode<typename Scales::Scale>(scale / of_matrix));
  return scales;
}

// `lines_of_b` columns of B share a scale.
template <class Scales>
double error_of_blocks(const Inputs& in, const char* operation, std::int64_t lines_of_b) {
  using Scale = typename Scales::Scale;
  using Number = typename Scales::Number;
  const float whole_a = scale_of_matrix<Scales>(in.a);
  const float whole_b = scale_of_matrix<Scales>(in.b);
  const Blocks of_a{kRowsOfA, 1, Scales::kBlock};
  const Blocks of_b{kRowsOfB, lines_of_b, Scales::kBlock};
  const std::vector<float> scale_a = rounded_scales_of<Scales>(in.a, of_a, whole_a);
  const std::vector<float> scale_b = rounded_scales_of<Scales>(in.b, of_b, whole_b);
  return with_packed(operation, [&](const Implementation& packed) {
    HostRun run(packed, shape());
    quantise<Number>(in.a, of_a, scale_a, whole_a, run.array(0).data());
    quantise<Number>(in.b, of_b, scale_b, whole_b, run.array(1).data());
    auto* const stored_a = static_cast<Scale*>(run.array(2).data());
    auto* const stored_b = static_cast<Scale*>(run.array(3).data());
    for (std::int64_t k = 0; k < kDepth; k += Scales::kBlock) {
      for (std::int64_t i = 0; i < kRowsOfA; ++i) {
        stored_a[Scales::index_a(i, k, kRowsOfA, kDepth)] = encode<Scale>(scale_a[of_a.of(i, k)]);
      }
      for (std::int64_t j = 0; j < kRowsOfB; ++j) {
        stored_b[Scales::index_b(j, k, kRowsOfB, kDepth)] = encode<Scale>(scale_b[of_b.of(j, k)]);
      }
    }
    EXPECT_TRUE(run.launch());
    return error(run, double{whole_a} * whole_b, in.exact);
  });
}

double error_in_fp32_scales(const Inputs& in) {
  return error_of_blocks<Fp32Scales>(in, "matmul_block_scaled", Fp32Scales::kBlock);
}
double error_in_mxfp8(const Inputs& in) { return error_of_blocks<Mxfp8>(in, "matmul_mxfp8", 1); }
double error_in_nvfp4(const Inputs& in) { return error_of_blocks<Nvfp4>(in, "matmul_nvfp4", 1); }

TEST(BlockScaledErrors, ThePageHasThem) {
  std::string table;
  for (const auto& [outlier, text] :
       {std::pair(1.0F, "none"), std::pair(1e3F, "1,000"), std::pair(1e4F, "10,000"),
        std::pair(1e5F, "100,000"), std::pair(1e6F, "1,000,000")}) {
    const Inputs in(outlier);
    table += fmt::format("| {} | {:.2g} % | {:.2g} % | {:.2g} % | {:.2g} % |\n", text,
                         100 * error_per_tensor(in), 100 * error_in_fp32_scales(in),
                         100 * error_in_mxfp8(in), 100 * error_in_nvfp4(in));
  }
  std::ifstream file(RIDGEBENCH_SOURCE_DIR "/docs/matmul_formats.md");
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_NE(page.str().find(table), std::string::npos) << "the table of errors is now\n" << table;
}

// A block that an outlier spoils has 127 other numbers; a matrix has all of them.
TEST(BlockScaledErrors, AnOutlierSpoilsItsBlockOnly) {
  const Inputs in(1e6F);
  EXPECT_GT(error_per_tensor(in), 10 * error_in_fp32_scales(in));
  EXPECT_GT(error_per_tensor(in), 10 * error_in_mxfp8(in));
}

}  // namespace
}  // namespace ridgebench
