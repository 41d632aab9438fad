#include "roofline/transformer/tensor_parallel.hpp"

#include <fmt/format.h>

#include <string_view>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr std::string_view kOption = "--tensor-parallel";

std::int64_t share(std::int64_t whole, std::int64_t ranks, std::string_view what) {
  if (whole % ranks == 0) return whole / ranks;
  throw UsageError(
      fmt::format("{} is {}; allowed: a divisor of the {} {}", kOption, ranks, whole, what));
}

// Keys and values of a head are on several ranks if there are more ranks than such heads.
std::int64_t share_of_kv_heads(std::int64_t heads, std::int64_t ranks) {
  return ranks % heads == 0 ? 1 : share(heads, ranks, "heads of keys and values");
}

void check_plain(const Transformer& model) {
  bool plain = model.recurrences.empty() && model.others.empty();
  for (const Attention& a : model.attentions) {
    plain = plain && !a.latent && !a.indexer && !a.compressed;
  }
  if (plain) return;
  throw UsageError(
      fmt::format("{} divides attention with keys and values for each head, and networks; {} has "
                  "layers of another kind",
                  kOption, model.name));
}

}  // namespace

Transformer shard_of(const Transformer& model, std::int64_t ranks) {
  if (ranks == 1) return model;
  check_plain(model);
  Transformer shard = model;
  for (Attention& a : shard.attentions) {
    a.heads = share(a.heads, ranks, "heads");
    a.kv_heads = share_of_kv_heads(a.kv_heads, ranks);
  }
  for (Network& n : shard.networks) n.width = share(n.width, ranks, "outputs of a network");
  shard.vocabulary = (model.vocabulary + ranks - 1) / ranks;
  return shard;
}

double sums_in_forward_pass(const Transformer& model) {
  return 2 * static_cast<double>(model.layers);
}

}  // namespace ridgebench
