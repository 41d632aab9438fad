#include "kernels/matmul/matmul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "kernels/common/gelu_reference.hpp"
#include "kernels/common/norm.hpp"
#include "kernels/common/product_strides.hpp"
#include "kernels/common/reference/product.hpp"
#include "kernels/matmul/block_scales.hpp"

namespace ridgebench {
namespace {

// A constant array, because operations register before the dynamic initialisation of other files.
constexpr std::array<FormatPair, 9> kInputFormats{

    Format::fp32,
    Format::tf32,
    Format::fp16,
    Format::bf16,
    Format::fp8_e4m3,
    Format::fp8_e5m2,
    FormatPair(Format::fp8_e4m3, Format::fp8_e5m2),
    FormatPair(Format::fp8_e5m2, Format::fp8_e4m3),
    Format::tf32x3};

double multiply_add_flops(const Shape& s) {
  return 2.0 * static_cast<double>(s["m"]) * static_cast<double>(s["n"]) *
         static_cast<double>(s["k"]) * static_cast<double>(batch_of(s));
}

void product_rows(const Shape& s, std::span<const std::int64_t> rows, const Groups& groups,
                  std::span<const View> in, std::span<Expected> out) {
  product_reference(s, rows, groups, in[0], in[1], out);
}

// z = product + bias, y = gelu(z). The largest slope bounds what an error of z adds to y.
void fused_rows(const Shape& s, std::span<const std::int64_t> rows, const Groups& groups,
                std::span<const View> in, std::span<Expected> out) {
  product_rows(s, rows, groups, in, out);
  std::vector<double> bias(static_cast<std::size_t>(groups.width(s["n"])));
  in[2].read(groups.first, bias);
#pragma omp parallel for
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double b = bias[i % bias.size()];
    const double z = out[i].value + b;
    out[i] = {gelu_reference(z), kGeluMaxSlope * norm_of(out[i].norm, b) + gelu_norm(z)};
  }
}

// Multiplies numbers from k = `first` on, of which `block` share one, by their scales; index_of(k)
// is the index of one.
template <class IndexOf>
void multiply_by_scales(View scales, std::int64_t block, std::int64_t first,
                        std::span<double> numbers, IndexOf index_of) {
  const std::int64_t end = first + std::ssize(numbers);
  for (std::int64_t k = first; k < end;) {
    const double scale = scales[index_of(k)];
    const std::int64_t block_end = std::min(end, round_up(k + 1, block));
    for (; k < block_end; ++k) numbers[static_cast<std::size_t>(k - first)] *= scale;
  }
}

template <class Scales>
void block_scaled_rows(const Shape& s, std::span<const std::int64_t> rows, const Groups& groups,
                       std::span<const View> in, std::span<Expected> out) {
  const std::int64_t depth = s["k"];
  const auto scale_a = [=, m = s["m"], scales = in[2]](std::int64_t row, std::int64_t first,
                                                       std::span<double> numbers) {
    multiply_by_scales(scales, Scales::kBlock, first, numbers,
                       [=](std::int64_t k) { return Scales::index_a(row, k, m, depth); });
  };
  const auto scale_b = [=, n = s["n"], scales = in[3]](std::int64_t column, std::int64_t first,
                                                       std::span<double> numbers) {
    multiply_by_scales(scales, Scales::kBlock, first, numbers,
                       [=](std::int64_t k) { return Scales::index_b(column, k, n, depth); });
  };
  product_reference(s, rows, groups, in[0], in[1], out, {scale_a, scale_b});
}

std::int64_t rows_of_c(const Shape& s) { return s["m"]; }

const RegisterRowsReference of_matmul{"matmul", {product_rows, true, rows_of_c}};
const RegisterRowsReference of_matmul_gelu{"matmul_gelu", {fused_rows, false}};
const RegisterRowsReference of_matmul_block_scaled{"matmul_block_scaled",
                                                   {block_scaled_rows<Fp32Scales>, true}};
const RegisterRowsReference of_matmul_mxfp8{"matmul_mxfp8", {block_scaled_rows<Mxfp8>, true}};
const RegisterRowsReference of_matmul_nvfp4{"matmul_nvfp4", {block_scaled_rows<Nvfp4>, true}};

// The reference of one row, from that of many.
auto one_row_of(decltype(product_rows)* rows_of) {
  return [=](const Shape& s, std::int64_t row, std::span<const View> in, std::span<Expected> out) {
    rows_of(s, {&row, 1}, {}, in, out);
  };
}

constexpr std::int64_t kMostSide = 8192;
constexpr double kLongestLaunch_s = 0.1;
constexpr double kNaiveSlowdown = 64;  // of a good technique's rate

// Largest power of two, up to kMostSide, that a launch at this rate finishes in kLongestLaunch_s.
std::int64_t side(double flops_per_s) {
  std::int64_t n = 64;
  while (n < kMostSide &&
         2.0 * std::pow(2.0 * static_cast<double>(n), 3) < kLongestLaunch_s * flops_per_s) {
    n *= 2;
  }
  return n;
}

Shape cube(std::int64_t n, Layout layout) { return Shape({{"m", n}, {"n", n}, {"k", n}}, layout); }

Shape product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return Shape({{"m", m}, {"n", n}, {"k", k}}, Layout::nt);
}

// Shapes of large models, for devices that are fast enough: weight matrices, long in k, wide,
// decoding batches of 16 and of 64, and one that no tile divides.
std::vector<Shape> model_shapes() {
  return {product(4096, 7168, 16384), product(4096, 1536, 24576), product(2048, 2048, 13312),
          product(8192, 28672, 8192), product(16, 8192, 8192),    product(64, 8192, 8192),
          product(5120, 5120, 5000)};
}

// Ragged, skinny and long in k, for slower devices.
std::vector<Shape> odd_shapes(std::int64_t n) {
  return {product(n - 3, n - 5, n - 7), product(16, n, n), product(n / 4, n / 4, 4 * n)};
}

// One size for every technique of the ladder, which the naive ones finish. Then the paths of the
// lecture, from memory-bound to compute-bound: squares, whose intensity grows with their side, and
// m rows that share one square matrix of weights, whose intensity grows with m. A host has a third
// one, because its memory-bound squares are so small that the launch decides: k columns of A for a
// square C, whose intensity grows with k.
std::vector<Shape> lecture_sweep(Pace pace, const Machine& machine) {
  constexpr std::int64_t most_weights = 4096;  // rows and columns
  // Left of any ridge: of a GPU in bf16, 60 FLOP/byte or more; of a host in fp32, 4 or more.
  const std::int64_t smallest = machine.compute_capability > 0 ? 128 : 16;
  std::vector<Shape> shapes{cube(side(machine.flops_per_s_hint / kNaiveSlowdown), Layout::nt)};
  if (pace == Pace::naive) return shapes;
  const auto add = [&](const Shape& shape) {
    if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
  };
  const std::int64_t largest = side(machine.flops_per_s_hint);
  for (std::int64_t n = smallest; n <= largest; n *= 2) add(cube(n, Layout::nt));
  const std::int64_t width = std::min(most_weights, 4 * largest);
  for (std::int64_t m = 1; m <= width; m *= 2) {
    const Shape rows = product(m, width, width);
    if (multiply_add_flops(rows) > kLongestLaunch_s * machine.flops_per_s_hint) break;
    add(rows);
  }
  constexpr std::int64_t deepest = 512;  // compute-bound on any host
  for (std::int64_t k = 1; machine.compute_capability == 0 && k <= deepest; k *= 2) {
    add(product(2 * largest, 2 * largest, k));
  }
  return shapes;
}

std::vector<Shape> sweep(Profile profile, Pace pace, const Machine& machine) {
  if (profile == Profile::lecture) return lecture_sweep(pace, machine);
  const std::int64_t n = side_of_square(pace, machine);
  // Naive code has the same rate at every size, and conversions make it several times slower than
  // fp32.
  std::vector<Shape> shapes{cube(pace == Pace::naive ? n / 2 : n, Layout::nt)};
  // A GPU's naive techniques differ in the order in which threads read B, which shows where
  // neighbours along n are neighbours in memory.
  if (pace == Pace::naive && machine.compute_capability > 0) {
    shapes.push_back(cube(n / 2, Layout::nn));
  }
  if (profile == Profile::quick) return shapes;
  for (const std::int64_t size : {n, n / 2, n / 4, n / 8}) {
    if (size != shapes.front()["n"]) shapes.push_back(cube(size, Layout::nt));
  }
  if (pace == Pace::fast) {
    shapes.push_back(cube(2 * n, Layout::nt));
    // The two backward products of a linear layer whose forward is the first.
    shapes.push_back(cube(n, Layout::nn));
    shapes.push_back(cube(n, Layout::tn));
  }
  if (profile != Profile::full) return shapes;
  const std::vector<Shape> more = n == kMostSide ? model_shapes() : odd_shapes(n);
  shapes.insert(shapes.end(), more.begin(), more.end());
  return shapes;
}

// The lecture's paths are those of matmul.
std::vector<Shape> nt_sweep(Profile profile, Pace pace, const Machine& machine) {
  if (profile == Profile::lecture) return {};
  std::vector<Shape> shapes = sweep(profile, pace, machine);
  std::erase_if(shapes, [](const Shape& s) { return s.layout() != Layout::nt; });
  return shapes;
}

// All matrices of a batch.
Operand matrices(const char* name, const StoredLines& lines, const Shape& s, Format format,
                 Access access = Access::read) {
  return {.name = name,
          .elements = ceil_div(batch_of(s) * lines.elements(), info(format).numbers()),
          .format = format,
          .access = access,
          .rows = lines.rows()};
}

// In the layouts nt and nn, it is stored row by row.
Operand first_matrix(const Shape& s, FormatPair f) {
  Operand a = matrices("a", lines_of_a(s), s, f.a);
  if (s.layout() != Layout::tn) a.by_row = ceil_div(lines_of_a(s).stride, info(f.a).numbers());
  return a;
}

std::int64_t one(const Shape& /*shape*/) { return 1; }
template <StoredLines (*kLinesOf)(const Shape&)>
std::int64_t length_of_lines(const Shape& s) {
  return kLinesOf(s).length;
}

// Why lines of a matrix overlap or take too much memory.
std::optional<std::string> refuses_lines(const char* dimension, const StoredLines& lines,
                                         const Shape& s) {
  if (lines.stride < lines.length) {
    return fmt::format("{}:{} is less than a line of {} elements; allowed: {} or more", dimension,
                       lines.stride, lines.length, lines.length);
  }
  const double elements = static_cast<double>(batch_of(s)) * static_cast<double>(lines.lines) *
                          static_cast<double>(lines.stride);
  constexpr double kMost = kLargestProduct / sizeof(double);
  const bool stated = batch_of(s) > 1 || lines.stride > lines.length;  // b or a leading dimension
  if (elements < kMost || !stated) return std::nullopt;
  return fmt::format("{} makes an operand of {:.3g} elements; allowed: fewer than 2^59",
                     batch_of(s) > 1 ? "b" : dimension, elements);
}

std::optional<std::string> refuses_strides(const Shape& s) {
  if (auto reason = refuses_lines("lda", lines_of_a(s), s)) return reason;
  if (auto reason = refuses_lines("ldb", lines_of_b(s), s)) return reason;
  return refuses_lines("ldc", lines_of_c(s), s);
}

}  // namespace

std::int64_t side_of_square(Pace pace, const Machine& machine) {
  return side(machine.flops_per_s_hint / (pace == Pace::naive ? kNaiveSlowdown : 1));
}

Operation matmul_operation() {
  return {
      .name = "matmul",
      .dimensions = {"m", "n", "k"},
      .optional_dimensions = {{"b", one},
                              {"lda", length_of_lines<lines_of_a>},
                              {"ldb", length_of_lines<lines_of_b>},
                              {"ldc", length_of_lines<lines_of_c>}},
      .has_layout = true,
      .formats = {kInputFormats.begin(), kInputFormats.end()},
      .engine = Engine::tensor,
      .flops = multiply_add_flops,
      .operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
        return {first_matrix(s, f), matrices("b", lines_of_b(s), s, f.b),
                matrices("c", lines_of_c(s), s, product_format(f), Access::written)};
      },
      .row_length = [](const Shape& s) { return s["n"]; },
      .reference = one_row_of(product_rows),
      .reduction = [](const Shape& s) { return static_cast<double>(s["k"]); },
      .shapes = sweep,
      .refuses = refuses_strides,
  };
}

namespace {

// The basis of every other product of two matrices: one product, whose lines have no gaps.
Operation plain_product(const char* name) {
  Operation product = matmul_operation();
  product.name = name;
  product.optional_dimensions.clear();
  product.refuses = nullptr;
  return product;
}

}  // namespace

Operation matmul_gelu_operation() {
  Operation fused = plain_product("matmul_gelu");
  std::erase(fused.formats, FormatPair(Format::tf32x3));
  fused.flops = [](const Shape& s) {
    const double outputs = static_cast<double>(s["m"]) * static_cast<double>(s["n"]);
    return multiply_add_flops(s) + (kGeluFlops + 1) * outputs;
  };
  fused.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {first_matrix(s, f),
            {"b", s["k"] * s["n"], f.b},
            {"bias", s["n"], product_format(f)},
            {"c", s["m"] * s["n"], product_format(f), Access::written}};
  };
  fused.reference = one_row_of(fused_rows);
  fused.reduction = [](const Shape& s) { return static_cast<double>(s["k"] + 1); };
  fused.special = [](const Shape& s) { return static_cast<double>(s["m"] * s["n"]); };
  fused.shapes = nt_sweep;
  return fused;
}

namespace {

Operand scale_operand(const char* name, Format format, std::int64_t count, std::int64_t needed,
                      const Values& values) {
  return {.name = name,
          .elements = count,
          .format = format,
          .values = values,
          .unread = count - needed};
}

template <class Scales>
std::optional<std::string> refuses_scaled(const Shape& s) {
  constexpr FormatInfo kNumber = info(FormatOf<typename Scales::Number>::value);
  if (s.layout() != Layout::nt) {
    return "scales belong to blocks along k of both operands; allowed: layout nt";
  }
  if (kNumber.numbers() == 1 || s["k"] % 2 == 0) return std::nullopt;
  return fmt::format("k is odd; allowed: an even number, because two numbers of {} share a byte",
                     kNumber.name);
}

// A product whose numbers count times their scales, which are random `values`.
template <class Scales>
Operation block_scaled_product(const char* name, const Values& values) {
  Operation scaled = plain_product(name);
  scaled.formats = {FormatOf<typename Scales::Number>::value};
  scaled.operands = [values](const Shape& s, FormatPair f) -> std::vector<Operand> {
    constexpr Format kScale = FormatOf<typename Scales::Scale>::value;
    const std::int64_t k = s["k"];
    return {first_matrix(s, f),
            matrices("b", lines_of_b(s), s, f.b),
            scale_operand("scale_a", kScale, Scales::count_a(s["m"], k),
                          Scales::needed_a(s["m"], k), values),
            scale_operand("scale_b", kScale, Scales::count_b(s["n"], k),
                          Scales::needed_b(s["n"], k), values),
            {"c", s["m"] * s["n"], product_format(f), Access::written}};
  };
  scaled.reference = one_row_of(block_scaled_rows<Scales>);
  scaled.shapes = [](Profile profile, Pace pace, const Machine& machine) {
    std::vector<Shape> shapes = nt_sweep(profile, pace, machine);
    std::erase_if(shapes, [](const Shape& s) { return refuses_scaled<Scales>(s).has_value(); });
    return shapes;
  };
  scaled.refuses = refuses_scaled<Scales>;
  return scaled;
}

}  // namespace

// A quantiser divides a block by its largest magnitude over that of the format, so scales differ
// from block to block. A scale of the wrong block is off by a third on average.
Operation matmul_block_scaled_operation() {
  return block_scaled_product<Fp32Scales>("matmul_block_scaled", uniform(0.5, 1.5));
}

// The scales become 1/2, 1, 2 and 4. That of the wrong block is another one three times in five.
Operation matmul_mxfp8_operation() {
  return block_scaled_product<Mxfp8>("matmul_mxfp8", uniform(0.25, 4));
}

Operation matmul_nvfp4_operation() {
  return block_scaled_product<Nvfp4>("matmul_nvfp4", uniform(0.5, 1.5));
}

}  // namespace ridgebench
