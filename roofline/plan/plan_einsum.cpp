// FLOPs and bytes of an einsum, with indices as letters or as the names of einops.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"

namespace ridgebench {
namespace {

using Indices = std::vector<std::string>;

// One operand or the result: its axes, each an index or several in parentheses, which are one axis.
struct Axes {
  std::string text;
  std::vector<Indices> axes;

  [[nodiscard]] Indices indices() const {
    Indices all;
    for (const Indices& axis : axes) all.insert(all.end(), axis.begin(), axis.end());
    return all;
  }
  [[nodiscard]] bool has(const std::string& index) const {
    const Indices all = indices();
    return std::ranges::find(all, index) != all.end();
  }
};

struct Einsum {
  std::vector<Axes> operands;
  Axes result;
};

[[noreturn]] void refuse(const std::string& expression, std::string_view why) {
  throw UsageError(fmt::format(
      "'{}' {}; allowed: letters for indices, such as bshd,bthd->bhst, or names with spaces "
      "between them, such as 'seq (heads hidden) -> heads seq hidden'",
      expression, why));
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_part_of_name(char c) {
  return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_space(char c) { return c == ' ' || c == '\t'; }

// "bshd": a letter is an index.
Axes parse_letters(const std::string& expression, std::string_view text) {
  Axes axes{std::string(text), {}};
  for (const char c : text) {
    if (!is_letter(c)) refuse(expression, "has an index that is not a letter");
    axes.axes.push_back({std::string(1, c)});
  }
  return axes;
}

// "seq (heads hidden)": a word is an index, and parentheses hold those of one axis.
Axes parse_names(const std::string& expression, std::string_view text) {
  Axes axes;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (is_space(c)) {
      ++at;
    } else if (c == '(' || c == ')') {
      if ((c == '(') == inside) refuse(expression, "has parentheses that do not match");
      inside = !inside;
      if (inside) axes.axes.emplace_back();
      if (!inside && axes.axes.back().empty()) refuse(expression, "has empty parentheses");
      ++at;
    } else {
      if (!is_letter(c)) refuse(expression, "has a name that does not begin with a letter");
      std::size_t end = at;
      while (end < text.size() && is_part_of_name(text[end])) ++end;
      if (!inside) axes.axes.emplace_back();
      axes.axes.back().emplace_back(text.substr(at, end - at));
      at = end;
    }
  }
  if (inside) refuse(expression, "has parentheses that do not match");
  const std::size_t first = text.find_first_not_of(" \t");
  if (first != std::string_view::npos) {
    axes.text = text.substr(first, text.find_last_not_of(" \t") + 1 - first);
  }
  return axes;
}

Einsum parse_einsum(const std::string& expression) {
  const std::size_t arrow = expression.find("->");
  if (arrow == std::string::npos) refuse(expression, "has no ->");
  const bool named = expression.find_first_of(" \t()") != std::string::npos;
  const auto parse = [&](std::string_view text) {
    return named ? parse_names(expression, text) : parse_letters(expression, text);
  };
  Einsum einsum{{}, parse(std::string_view(expression).substr(arrow + 2))};
  for (std::string_view rest = std::string_view(expression).substr(0, arrow);;) {
    const std::size_t comma = rest.find(',');
    einsum.operands.push_back(parse(rest.substr(0, comma)));
    if (einsum.operands.back().axes.empty()) {
      refuse(expression, "has an operand without indices");
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  std::set<std::string> seen;
  for (const std::string& index : einsum.result.indices()) {
    const bool known =
        std::ranges::any_of(einsum.operands, [&](const Axes& one) { return one.has(index); });
    if (!known) refuse(expression, "has a result with an index that no operand has");
    if (!seen.insert(index).second) refuse(expression, "has a result with an index twice");
  }
  return einsum;
}

double product_of(const Indices& indices, const std::map<std::string, double>& sizes) {
  double product = 1;
  for (const std::string& index : std::set<std::string>(indices.begin(), indices.end())) {
    const auto found = sizes.find(index);
    if (found == sizes.end()) {
      throw UsageError(fmt::format("--size lacks the index '{0}'; allowed: --size {0}=64", index));
    }
    product *= found->second;
  }
  return whole("the product of the sizes", product);
}

// Returns by how many elements of a contiguous operand a step of each index moves. An index that
// the operand has twice is a diagonal: its stride is the sum of both.
std::map<std::string, double> strides_of(const Axes& operand,
                                         const std::map<std::string, double>& sizes) {
  std::map<std::string, double> strides;
  double stride = 1;
  const Indices order = operand.indices();
  for (auto index = order.rbegin(); index != order.rend(); ++index) {
    strides[*index] += stride;
    stride *= sizes.at(*index);
  }
  return strides;
}

// True if strides over the operand's memory give the result. Indices of one axis have one stride
// if each moves as far as a whole turn of the next one; an index of size 1 never moves.
bool is_view(const Axes& result, const std::map<std::string, double>& sizes,
             const std::map<std::string, double>& strides) {
  return std::ranges::all_of(result.axes, [&](const Indices& axis) {
    std::optional<double> turn;  // of the indices behind
    for (auto index = axis.rbegin(); index != axis.rend(); ++index) {
      const double size = sizes.at(*index);
      if (size == 1) continue;
      const double stride = strides.at(*index);
      if (turn && stride != *turn) return false;
      turn = stride * size;
    }
    return true;
  });
}

void check_sizes(const std::string& expression, const Indices& all,
                 const std::map<std::string, double>& sizes) {
  for (const auto& [index, size] : sizes) {
    if (std::ranges::find(all, index) == all.end()) {
      throw UsageError(fmt::format("--size has '{}', which no operand of '{}' has; allowed: {}",
                                   index, expression,
                                   fmt::join(std::set<std::string>(all.begin(), all.end()), ", ")));
    }
    if (index == "expression" || index == "format") {
      refuse(expression, fmt::format("has an index that is called {}", index));
    }
  }
}

}  // namespace

PlanAnswer plan_einsum(const std::string& expression, const std::map<std::string, double>& sizes,
                       Format format) {
  const Einsum einsum = parse_einsum(expression);
  Indices all;
  for (const Axes& operand : einsum.operands) {
    const Indices one = operand.indices();
    all.insert(all.end(), one.begin(), one.end());
  }
  const double steps = product_of(all, sizes);
  check_sizes(expression, all, sizes);
  const bool sums =
      std::ranges::any_of(all, [&](const auto& index) { return !einsum.result.has(index); });
  const double products = static_cast<double>(einsum.operands.size()) - 1;
  PlanAnswer terms{term("steps, the product of all sizes", steps, "1"),
                   term("multiplications of a step", products, "1"),
                   term("additions of a step", sums ? 1 : 0, "1")};
  const double width = info(format).storage_bytes;
  const double written = width * product_of(einsum.result.indices(), sizes);
  double bytes = written;
  for (const Axes& operand : einsum.operands) {
    const double operand_bytes = width * product_of(operand.indices(), sizes);
    terms.push_back(term(operand.text, operand_bytes, "byte"));
    bytes += operand_bytes;
  }
  terms.push_back(term("-> " + einsum.result.text, written, "byte"));
  PlanAnswer inputs{{"expression", expression}};
  for (const auto& [index, size] : sizes) inputs[index] = size;
  inputs["format"] = info(format).name;
  const double flops = steps * (products + (sums ? 1 : 0));
  PlanAnswer answer{{"plan", "einsum"}, {"inputs", inputs}, {"flops", flops}, {"bytes", bytes}};
  if (products > 0 || sums) {
    answer["intensity_flop_per_byte"] = flops / bytes;
    answer["note"] = "all operands and the result have one format; each is moved once";
  } else {
    const auto strides = strides_of(einsum.operands.front(), sizes);
    for (const auto& [index, stride] : strides) {
      terms.push_back(term(fmt::format("stride of {}, in elements", index), stride, "1"));
    }
    const bool view = is_view(einsum.result, sizes, strides);
    if (view) answer["bytes"] = 0;
    answer["copy_bytes"] = bytes;
    answer["view"] = view;
    answer["note"] = view ? "a view moves nothing: it has the same elements under other strides; a "
                            "contiguous copy reads and writes all of them, copy_bytes"
                          : "no strides give this result, so that it is a copy, which reads and "
                            "writes all elements";
  }
  answer["terms"] = terms;
  return answer;
}

}  // namespace ridgebench
