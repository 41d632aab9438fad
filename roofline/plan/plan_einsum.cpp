#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"

namespace ridgebench {
namespace {

// "bshd,bthd->bhst": the indices of each operand and of the result.
struct Einsum {
  std::vector<std::string> operands;
  std::string result;
};

[[noreturn]] void refuse(const std::string& expression, std::string_view why) {
  throw UsageError(fmt::format("'{}' {}; allowed: letters for indices, such as bshd,bthd->bhst",
                               expression, why));
}

Einsum parse_einsum(const std::string& expression) {
  const std::size_t arrow = expression.find("->");
  if (arrow == std::string::npos) refuse(expression, "has no ->");
  Einsum einsum{{""}, expression.substr(arrow + 2)};
  for (const char c : expression.substr(0, arrow)) {
    if (c == ',') {
      einsum.operands.emplace_back();
    } else {
      einsum.operands.back() += c;
    }
  }
  std::set<char> known;
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  for (const std::string& operand : einsum.operands) {
    if (operand.empty()) refuse(expression, "has an operand without indices");
    known.insert(operand.begin(), operand.end());
  }
  if (!std::ranges::all_of(known, letter)) refuse(expression, "has an index that is no letter");
  std::set<char> seen;
  for (const char c : einsum.result) {
    if (!known.contains(c)) refuse(expression, "has a result with an index that no operand has");
    if (!seen.insert(c).second) refuse(expression, "has a result with an index twice");
  }
  return einsum;
}

double product_of(std::string_view indices, const std::map<char, double>& sizes) {
  double product = 1;
  for (const char c : std::set<char>(indices.begin(), indices.end())) {
    const auto found = sizes.find(c);
    if (found == sizes.end()) {
      throw UsageError(fmt::format("--size lacks the index '{}'; allowed: --size {}=64", c, c));
    }
    product *= found->second;
  }
  return whole("the product of the sizes", product);
}

}  // namespace

PlanAnswer plan_einsum(const std::string& expression, const std::map<char, double>& sizes,
                       Format format) {
  const Einsum einsum = parse_einsum(expression);
  std::string all;
  for (const std::string& operand : einsum.operands) all += operand;
  const double steps = product_of(all, sizes);
  for (const auto& [index, size] : sizes) {
    if (all.find(index) == std::string::npos) {
      throw UsageError(fmt::format("--size has '{}', which no operand of '{}' has; allowed: {}",
                                   index, expression,
                                   fmt::join(std::set<char>(all.begin(), all.end()), ", ")));
    }
  }
  const bool sums =
      std::ranges::any_of(all, [&](char c) { return einsum.result.find(c) == std::string::npos; });
  const double products = static_cast<double>(einsum.operands.size()) - 1;
  PlanAnswer terms{term("steps, the product of all sizes", steps, "1"),
                   term("multiplications of a step", products, "1"),
                   term("additions of a step", sums ? 1 : 0, "1")};
  const double width = info(format).storage_bytes;
  double bytes = width * product_of(einsum.result, sizes);
  for (const std::string& operand : einsum.operands) {
    const double operand_bytes = width * product_of(operand, sizes);
    terms.push_back(term(operand, operand_bytes, "byte"));
    bytes += operand_bytes;
  }
  terms.push_back(term("-> " + einsum.result, width * product_of(einsum.result, sizes), "byte"));
  PlanAnswer inputs{{"expression", expression}};
  for (const auto& [index, size] : sizes) inputs[std::string(1, index)] = size;
  inputs["format"] = info(format).name;
  const double flops = steps * (products + (sums ? 1 : 0));
  return {{"plan", "einsum"},
          {"inputs", inputs},
          {"flops", flops},
          {"bytes", bytes},
          {"intensity_flop_per_byte", flops / bytes},
          {"terms", terms},
          {"note", "all operands and the result have one format; each is moved once"}};
}

}  // namespace ridgebench
