#include "kernels/matmul/matmul.hpp"

#include <array>
#include <cmath>

#include "kernels/common/gelu_reference.hpp"

namespace ridgepoint {
namespace {

// A constant array: operations register while other files' objects may not exist yet.
constexpr std::array<FormatPair, 8> kInputFormats{

    Format::fp32,
    Format::tf32,
    Format::fp16,
    Format::bf16,
    Format::fp8_e4m3,
    Format::fp8_e5m2,
    FormatPair(Format::fp8_e4m3, Format::fp8_e5m2),
    FormatPair(Format::fp8_e5m2, Format::fp8_e4m3)};

double multiply_add_flops(const Shape& s) {
  return 2.0 * static_cast<double>(s["m"]) * static_cast<double>(s["n"]) *
         static_cast<double>(s["k"]);
}

// Output row i: C[i,:] = sum over k of A[i,k] B[k,:].
void product_row(const Shape& s, std::int64_t i, std::span<const View> in,
                 std::span<Expected> out) {
  const std::int64_t m = s["m"];
  const std::int64_t n = s["n"];
  const std::int64_t k = s["k"];
  const bool a_by_columns = s.layout() == Layout::tn;
  const bool b_by_rows = s.layout() != Layout::nt;
  std::vector<double> row(static_cast<std::size_t>(k));
  for (std::int64_t p = 0; p < k; ++p) {
    row[static_cast<std::size_t>(p)] = in[0][a_by_columns ? p * m + i : i * k + p];
  }
  for (std::int64_t j = 0; j < n; ++j) {
    double sum = 0;
    double squares = 0;
    for (std::int64_t p = 0; p < k; ++p) {
      const double term =
          row[static_cast<std::size_t>(p)] * in[1][b_by_rows ? p * n + j : j * k + p];
      sum += term;
      squares += term * term;
    }
    out[static_cast<std::size_t>(j)] = {sum, std::sqrt(squares)};
  }
}

// z = product + bias, y = gelu(z): an error of z reaches y by at most the largest slope.
void fused_row(const Shape& s, std::int64_t i, std::span<const View> in, std::span<Expected> out) {
  product_row(s, i, in, out);
  for (std::size_t j = 0; j < out.size(); ++j) {
    const double bias = in[2][static_cast<std::int64_t>(j)];
    const double z = out[j].value + bias;
    const double norm = std::hypot(out[j].norm, bias);
    out[j] = {gelu_reference(z), kGeluMaxSlope * norm + gelu_norm(z)};
  }
}

// Largest power of two, up to 8192, that a launch at this rate finishes in 0.1 s.
std::int64_t side(double flops_per_s) {
  std::int64_t n = 64;
  while (n < 8192 && 2.0 * std::pow(2.0 * static_cast<double>(n), 3) < 0.1 * flops_per_s) n *= 2;
  return n;
}

Shape cube(std::int64_t n, Layout layout) { return Shape({{"m", n}, {"n", n}, {"k", n}}, layout); }

std::vector<Shape> sweep(Profile profile, Pace pace, const Machine& machine) {
  const std::int64_t n = side(machine.flops_per_s_hint / (pace == Pace::naive ? 64 : 1));
  std::vector<Shape> shapes{cube(n, Layout::nt)};
  if (profile == Profile::quick) return shapes;
  for (const std::int64_t size : {n / 2, n / 4, n / 8}) shapes.push_back(cube(size, Layout::nt));
  if (pace == Pace::fast) shapes.push_back(cube(2 * n, Layout::nt));
  if (profile != Profile::full) return shapes;
  shapes.push_back(cube(n, Layout::nn));
  shapes.push_back(cube(n, Layout::tn));
  // Ragged, skinny (decode with a small batch) and long in k.
  shapes.push_back(Shape({{"m", n - 3}, {"n", n - 5}, {"k", n - 7}}, Layout::nt));
  shapes.push_back(Shape({{"m", 16}, {"n", n}, {"k", n}}, Layout::nt));
  shapes.push_back(Shape({{"m", n / 4}, {"n", n / 4}, {"k", 4 * n}}, Layout::nt));
  return shapes;
}

std::vector<Shape> only_nt(Profile profile, Pace pace, const Machine& machine) {
  std::vector<Shape> shapes = sweep(profile, pace, machine);
  std::erase_if(shapes, [](const Shape& s) { return s.layout() != Layout::nt; });
  return shapes;
}

}  // namespace

Operation matmul_operation() {
  return {
      .name = "matmul",
      .dimensions = {"m", "n", "k"},
      .has_layout = true,
      .formats = {kInputFormats.begin(), kInputFormats.end()},
      .flops = multiply_add_flops,
      .operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
        return {{"a", s["m"] * s["k"], f.a},
                {"b", s["k"] * s["n"], f.b},
                {"c", s["m"] * s["n"], product_format(f), Access::written}};
      },
      .row_length = [](const Shape& s) { return s["n"]; },
      .reference = product_row,
      .reduction = [](const Shape& s) { return static_cast<double>(s["k"]); },
      .shapes = sweep,
  };
}

Operation matmul_gelu_operation() {
  Operation fused = matmul_operation();
  fused.name = "matmul_gelu";
  fused.flops = [](const Shape& s) {
    const double outputs = static_cast<double>(s["m"]) * static_cast<double>(s["n"]);
    return multiply_add_flops(s) + (kGeluFlops + 1) * outputs;
  };
  fused.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"a", s["m"] * s["k"], f.a},
            {"b", s["k"] * s["n"], f.b},
            {"bias", s["n"], product_format(f)},
            {"c", s["m"] * s["n"], product_format(f), Access::written}};
  };
  fused.reference = fused_row;
  fused.reduction = [](const Shape& s) { return static_cast<double>(s["k"] + 1); };
  fused.special = [](const Shape& s) { return static_cast<double>(s["m"] * s["n"]); };
  fused.shapes = only_nt;
  return fused;
}

}  // namespace ridgepoint
