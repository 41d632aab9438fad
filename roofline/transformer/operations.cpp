#include "roofline/transformer/operations.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ridgebench {
namespace {

Shape shape_of(const Operation& matmul, std::int64_t m, std::int64_t n, std::int64_t k,
               Layout layout) {
  const std::string text = fmt::format("m:{}/n:{}/k:{}/layout:{}", m, n, k, name(layout));
  return parse_shape(text, matmul);  // checks the sizes
}

// Experts that get the same number of tokens each.
struct Share {
  std::int64_t experts;
  std::int64_t tokens;
};

std::vector<Share> shares_of(const Linear& linear, std::int64_t tokens) {
  const std::int64_t all = tokens * linear.active;
  const std::int64_t busy = std::min(linear.experts, all);
  const std::int64_t more = all % busy;
  std::vector<Share> shares{{busy - more, all / busy}};
  if (more > 0) shares.push_back({more, all / busy + 1});
  return shares;
}

}  // namespace

std::vector<LinearProduct> linear_products(const Operation& matmul, const Transformer& model,
                                           std::int64_t tokens, std::int64_t head_tokens,
                                           bool training) {
  std::vector<LinearProduct> products;
  for (const Linear& linear : linear_layers(model)) {
    const bool head = linear.name == kHead;
    for (const auto& [experts, rows] : shares_of(linear, head ? head_tokens : tokens)) {
      const auto add = [&, copies = experts](Pass pass, const Shape& shape) {
        products.push_back({linear.name, pass, shape, linear.layers, copies});
      };
      const std::int64_t n = linear.outputs;
      const std::int64_t k = linear.inputs;
      add(Pass::forward, shape_of(matmul, rows, n, k, Layout::nt));
      for (const std::int64_t outputs : linear.split) {
        products.back().split.push_back(shape_of(matmul, rows, outputs, k, Layout::nt));
      }
      if (!training) continue;
      add(Pass::dx, shape_of(matmul, rows, k, n, Layout::nn));
      add(Pass::dw, shape_of(matmul, n, k, rows, Layout::tn));
    }
  }
  return products;
}

std::vector<std::string> product_lines(const Operation& matmul, const Transformer& model,
                                       const std::vector<std::int64_t>& tokens, bool training) {
  std::vector<std::string> lines;
  for (const std::int64_t count : tokens) {
    for (const LinearProduct& product : linear_products(matmul, model, count, count, training)) {
      std::string line = fmt::format("{} {}", matmul.name, product.shape.text());
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace ridgebench
