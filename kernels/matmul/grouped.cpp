// The specification of the grouped product: its tokens, its operands and its reference, which
// multiplies the rows of each group as a product by itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "kernels/common/reference/product.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/matmul/token_groups.hpp"

namespace ridgebench {
namespace {

std::int64_t empty_groups(const Shape& s) {
  return static_cast<std::int64_t>(s.attribute("empty"));
}

// Evenly spaced, the last group among them.
bool is_empty(const Shape& s, std::int64_t group) {
  const std::int64_t empty = empty_groups(s);
  return (group + 1) * empty / s["g"] > group * empty / s["g"];
}

std::optional<std::string> refuses_groups(const Shape& s) {
  const std::int64_t g = s["g"];
  if (g > kMostGroups) return fmt::format("g is {}; allowed: up to {}", g, kMostGroups);
  const double empty = s.attribute("empty");
  if (empty != std::floor(empty) || empty < 0 || empty >= static_cast<double>(g)) {
    return fmt::format("empty is {}; allowed: a whole number from 0 to g - 1, which is {}", empty,
                       g - 1);
  }
  const double skew = s.attribute("skew");
  if (skew >= 0 && skew <= kMostSkew) return std::nullopt;
  return fmt::format("skew is {}; allowed: 0 to {}", skew, kMostSkew);
}

// Every row by the product of its group. Neighbouring rows of a group share one call.
void grouped_rows(const Shape& s, std::span<const std::int64_t> rows, const Groups& groups,
                  std::span<const View> in, std::span<Expected> out) {
  const std::size_t of_row = out.size() / rows.size();
  std::vector<std::int64_t> own;
  std::size_t first = 0;
  for (const TokenGroup& group : busy_groups(s)) {
    own.clear();
    for (std::size_t i = first; i < rows.size() && rows[i] < group.first + group.tokens; ++i) {
      own.push_back(rows[i] - group.first);
    }
    if (own.empty()) continue;
    product_reference(group.product(s), own, groups, in[0].from(group.first * s["k"]),
                      in[1].from(group.index * s["n"] * s["k"]),
                      out.subspan(first * of_row, own.size() * of_row));
    first += own.size();
  }
}

std::int64_t rows_of_a_group(const Shape& s) {
  return std::max<std::int64_t>(1, s["m"] / (s["g"] - empty_groups(s)));
}

const RegisterRowsReference of_matmul_grouped{"matmul_grouped",
                                              {grouped_rows, true, rows_of_a_group}};

std::vector<Shape> grouped_sweep(Profile profile, Pace pace, const Machine& machine) {
  if (profile == Profile::lecture) return {};
  const std::int64_t n = side_of_square(pace, machine);
  const auto shape = [n](std::int64_t g, double skew, double empty) {
    return Shape({{"m", n}, {"n", n}, {"k", n}, {"g", g}}, std::nullopt,
                 {{"skew", skew}, {"empty", empty}});
  };
  std::vector<Shape> shapes{shape(8, 0, 0)};
  if (profile == Profile::quick) return shapes;
  shapes.push_back(shape(8, 1, 0));
  shapes.push_back(shape(8, 1, 4));
  if (profile == Profile::full) shapes.push_back(shape(32, 1, 8));
  return shapes;
}

}  // namespace

std::vector<std::int64_t> token_starts(const Shape& shape) {
  const std::int64_t groups = shape["g"];
  const double skew = shape.attribute("skew");
  double all = 0;
  for (std::int64_t rank = 0; rank < groups - empty_groups(shape); ++rank) {
    all += std::pow(static_cast<double>(rank + 1), -skew);
  }
  std::vector<std::int64_t> starts{0};
  double before = 0;
  std::int64_t rank = 0;
  for (std::int64_t group = 0; group < groups; ++group) {
    if (!is_empty(shape, group)) before += std::pow(static_cast<double>(++rank), -skew);
    const bool last = rank == groups - empty_groups(shape);
    const double share = last ? 1 : before / all;
    starts.push_back(std::llround(share * static_cast<double>(shape["m"])));
  }
  return starts;
}

std::vector<TokenGroup> busy_groups(const Shape& shape) {
  const std::vector<std::int64_t> starts = token_starts(shape);
  std::vector<TokenGroup> groups;
  for (std::int64_t i = 0; i < shape["g"]; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (starts[at + 1] > starts[at]) groups.push_back({i, starts[at], starts[at + 1] - starts[at]});
  }
  return groups;
}

Operation matmul_grouped_operation() {
  return {
      .name = "matmul_grouped",
      .dimensions = {"m", "n", "k", "g"},
      .of_step = true,
      .attributes = {{"skew", 0}, {"empty", 0}},
      .formats = {Format::fp32, Format::bf16},
      .engine = Engine::tensor,
      .flops =
          [](const Shape& s) {
            return 2.0 * static_cast<double>(s["m"]) * static_cast<double>(s["n"]) *
                   static_cast<double>(s["k"]);
          },
      .operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
        const std::int64_t weights = s["n"] * s["k"];
        const auto idle = s["g"] - std::ssize(busy_groups(s));
        return {
            {"a", s["m"] * s["k"], f.a, Access::read, {}, s["k"]},
            {.name = "b", .elements = s["g"] * weights, .format = f.b, .unread = idle * weights},
            {"c", s["m"] * s["n"], product_format(f), Access::written}};
      },
      .row_length = [](const Shape& s) { return s["n"]; },
      .reference = [](const Shape& s, std::int64_t row, std::span<const View> in,
                      std::span<Expected> out) { grouped_rows(s, {&row, 1}, {}, in, out); },
      .reduction = [](const Shape& s) { return static_cast<double>(s["k"]); },
      .shapes = grouped_sweep,
      .refuses = refuses_groups,
  };
}

}  // namespace ridgebench
