// What one rank of tensor parallelism holds, computes and sends.
#include "roofline/transformer/tensor_parallel.hpp"

#include <gmock/gmock.h>

#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/plan/collectives.hpp"
#include "roofline/transformer/predict_transformer.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* kOption = "--tensor-parallel";

Transformer llama() { return open_transformer("llama-3-8b"); }

nlohmann::ordered_json decode_of(const Transformer& model, std::int64_t ranks,
                                 const std::optional<Link>& link = std::nullopt) {
  const nlohmann::ordered_json answer = predict_transformer(
      Registry::instance().operation("matmul"), model,
      {.batches = {16}, .context = 4096, .format = Format::bf16, .ranks = ranks, .link = link},
      Roofs(*find_data_sheet("h100-sxm")),
      [](std::string_view, const Shape&) { return std::optional<double>(); });
  return answer.at("phases").back();
}

TEST(TensorParallel, RanksHoldTheWholeModelTogether) {
  for (const std::int64_t ranks : {2, 4, 8}) {
    const Transformer shard = shard_of(llama(), ranks, kOption);
    EXPECT_EQ(parameters(shard) * static_cast<double>(ranks), parameters(llama())) << ranks;
    EXPECT_EQ(cached_elements(shard) * static_cast<double>(ranks), cached_elements(llama()));
  }
  EXPECT_EQ(parameters(shard_of(llama(), 1, kOption)), parameters(llama()));
}

TEST(TensorParallel, HeadsOfKeysAreOnSeveralRanksIfThereAreFewerOfThem) {
  const Transformer shard = shard_of(llama(), 32, kOption);  // 8 heads of keys and values
  EXPECT_EQ(shard.attentions.front().kv_heads, 1);
  EXPECT_EQ(cached_elements(shard), cached_elements(llama()) / 8);
}

TEST(TensorParallel, AVocabularyIsFilledUp) {
  Transformer model = llama();
  model.vocabulary = 1001;
  EXPECT_EQ(shard_of(model, 2, kOption).vocabulary, 501);
}

TEST(TensorParallel, RanksThatDivideNothingAreRefused) {
  EXPECT_THAT([] { shard_of(llama(), 3, kOption); },
              ThrowsMessage<UsageError>(
                  HasSubstr("--tensor-parallel is 3; allowed: a divisor of the 32 heads")));
  Transformer model = llama();
  model.networks.front().width = 14337;
  EXPECT_THAT([&] { shard_of(model, 2, kOption); },
              ThrowsMessage<UsageError>(HasSubstr("the 14337 outputs of a network")));
  model = llama();
  model.attentions.front().kv_heads = 3;
  EXPECT_THAT([&] { shard_of(model, 2, kOption); },
              ThrowsMessage<UsageError>(HasSubstr("the 3 heads of keys and values")));
  model.recurrences.push_back({.layers = 1, .state = 1, .passed = 1, .flops_per_token = 1});
  EXPECT_THAT([&] { shard_of(model, 2, kOption); },
              ThrowsMessage<UsageError>(HasSubstr("has layers of another kind")));
}

TEST(TensorParallel, ARankSendsTwoSumsALayerTheEmbeddingAndTheLogits) {
  const Link link{"l", 100e9, "as given"};
  const nlohmann::ordered_json one = decode_of(llama(), 8, link);
  const double stream = 16 * 4096 * 2;    // tokens x width in bf16
  const double logits = 16 * 128256 * 2;  // tokens x vocabulary
  const double sent = (32 * 2 + 1) * 2 * stream * 7 / 8 + logits * 7 / 8;
  EXPECT_EQ(one.at("communication_bytes"), sent);
  EXPECT_EQ(one.at("link_time_s"), sent / 100e9);
  const nlohmann::ordered_json& parts = one.at("communication");
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].at("times"), 64);
  EXPECT_EQ(parts[1].at("bytes"), 2 * stream * 7 / 8);
  EXPECT_EQ(parts[2].at("collective"), "all-gather");
  EXPECT_EQ(parts[2].at("message_bytes"), logits);
  EXPECT_TRUE(decode_of(llama(), 8).at("link_time_s").is_null());
  EXPECT_TRUE(decode_of(llama(), 1).at("communication_bytes").is_null());
  EXPECT_TRUE(decode_of(llama(), 1).at("communication").is_null());
}

TEST(TensorParallel, TheLogitsAreThoseOfTheFilledUpVocabulary) {
  Transformer model = llama();
  model.vocabulary = 1001;
  EXPECT_EQ(decode_of(model, 8).at("communication")[2].at("message_bytes"), 16 * 1008 * 2);
}

TEST(TensorParallel, TrainingSumsGradientsAndThreeNumbersATokenOfTheLoss) {
  const std::vector<Exchange> exchanges = exchanges_of_training(llama(), 16, 2);
  const double stream = 16 * 4096 * 2;
  EXPECT_EQ(sent_bytes(exchanges, 8), (32 * 4 + 2) * 2 * stream * 7 / 8 + 3 * 2 * 16 * 4.0 * 7 / 8);
  EXPECT_EQ(sent_bytes(exchanges, 1), 0);
}

TEST(TensorParallel, RanksDivideFlopsAndMemory) {
  const nlohmann::ordered_json whole = decode_of(llama(), 1);
  const nlohmann::ordered_json one = decode_of(llama(), 8);
  EXPECT_EQ(one.at("flops").get<double>() * 8, whole.at("flops").get<double>());
  EXPECT_EQ(one.at("kv_cache_bytes").get<double>() * 8, whole.at("kv_cache_bytes").get<double>());
  EXPECT_LT(one.at("time_lower_bound_s").get<double>(),
            whole.at("time_lower_bound_s").get<double>());
}

TEST(Collectives, BytesThatARankSends) {
  EXPECT_EQ(sent_by_a_rank("all-reduce", 800, 8), 1400);
  EXPECT_EQ(sent_by_a_rank("all-reduce", 800, 8),
            sent_by_a_rank("reduce-scatter", 800, 8) + sent_by_a_rank("all-gather", 800, 8));
  EXPECT_EQ(sent_by_a_rank("all-to-all", 800, 8), 700);
  EXPECT_EQ(sent_by_a_rank("broadcast", 800, 8), 800);
  for (const char* const name :
       {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast"}) {
    EXPECT_EQ(sent_by_a_rank(name, 800, 1), 0) << name;
    EXPECT_THAT(collective_names(), HasSubstr(name));
  }
  EXPECT_THAT(
      [] { sent_by_a_rank("gossip", 1, 2); },
      ThrowsMessage<UsageError>(HasSubstr("--collective is 'gossip'; allowed: all-reduce")));
}

}  // namespace
}  // namespace ridgebench
