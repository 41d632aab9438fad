#include "roofline/transformer/tensor_parallel.hpp"

#include <fmt/format.h>

#include <string_view>

#include "kernels/common/error.hpp"
#include "roofline/plan/collectives.hpp"

namespace ridgebench {
namespace {

constexpr std::string_view kAllReduce = "all-reduce";

// The ranks, and the option that states them.
struct Ranks {
  std::int64_t count;
  std::string_view option;

  [[nodiscard]] std::int64_t share_of(std::int64_t whole, std::string_view what) const {
    if (whole % count == 0) return whole / count;
    throw UsageError(
        fmt::format("{} is {}; allowed: a divisor of the {} {}", option, count, whole, what));
  }
};

// Keys and values of a head are on several ranks if there are more ranks than such heads.
std::int64_t share_of_kv_heads(std::int64_t heads, const Ranks& ranks) {
  return ranks.count % heads == 0 ? 1 : ranks.share_of(heads, "heads of keys and values");
}

void check_plain(const Transformer& model, std::string_view option) {
  bool plain = model.recurrences.empty() && model.others.empty();
  for (const Attention& a : model.attentions) {
    plain = plain && !a.latent && !a.indexer && !a.compressed;
  }
  if (plain) return;
  throw UsageError(
      fmt::format("{} divides attention with keys and values for each head, and networks; {} has "
                  "layers of another kind",
                  option, model.name));
}

}  // namespace

Transformer shard_of(const Transformer& model, std::int64_t ranks, std::string_view option) {
  if (ranks == 1) return model;
  check_plain(model, option);
  const Ranks all{ranks, option};
  Transformer shard = model;
  for (Attention& a : shard.attentions) {
    a.heads = all.share_of(a.heads, "heads");
    a.kv_heads = share_of_kv_heads(a.kv_heads, all);
  }
  for (Network& n : shard.networks) n.width = all.share_of(n.width, "outputs of a network");
  shard.vocabulary = (model.vocabulary + ranks - 1) / ranks;
  return shard;
}

double Exchange::sent_bytes(std::int64_t ranks) const {
  return times * sent_by_a_rank(collective, message_bytes, static_cast<double>(ranks));
}

std::vector<Exchange> exchanges_of_inference(const Transformer& shard, std::int64_t ranks,
                                             double tokens, double rows, double element_bytes) {
  constexpr double kSumsOfLayer = 2;
  const double stream = tokens * static_cast<double>(shard.width) * element_bytes;
  const double logits = rows * static_cast<double>(shard.vocabulary * ranks) * element_bytes;
  return {{"layers", kAllReduce, kSumsOfLayer * static_cast<double>(shard.layers), stream},
          {"embedding", kAllReduce, 1, stream},
          {"logits", "all-gather", 1, logits}};
}

std::vector<Exchange> exchanges_of_training(const Transformer& shard, double tokens,
                                            double element_bytes) {
  constexpr double kSumsOfLayer = 4;
  constexpr double kSumsOfLoss = 3;
  constexpr double kLossBytes = 4;
  const double stream = tokens * static_cast<double>(shard.width) * element_bytes;
  return {{"layers", kAllReduce, kSumsOfLayer * static_cast<double>(shard.layers), stream},
          {"embedding", kAllReduce, 1, stream},
          {"head's input", kAllReduce, 1, stream},
          {"loss", kAllReduce, kSumsOfLoss, tokens * kLossBytes}};
}

double sent_bytes(const std::vector<Exchange>& exchanges, std::int64_t ranks) {
  double sum = 0;
  for (const Exchange& one : exchanges) sum += one.sent_bytes(ranks);
  return sum;
}

}  // namespace ridgebench
