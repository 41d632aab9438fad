// The work and the cache of attentions and recurrences that are not those of Llama.
#include <gmock/gmock.h>

#include <map>

#include "kernels/common/registry.hpp"
#include "roofline/transformer/operations.hpp"

namespace ridgebench {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr double kBf16 = 2;

std::map<std::string, Work> mixing_of(const Transformer& model, Phase phase, std::int64_t context) {
  std::map<std::string, Work> rows;
  for (const LayerWork& p : mixing_products(model, phase, {1, context}, Format::bf16, kBf16)) {
    if (p.pass == Pass::forward) rows[p.name] = p.work;
  }
  return rows;
}

std::vector<std::string> names_of_rows(const std::map<std::string, Work>& rows) {
  std::vector<std::string> names;
  for (const auto& [name, work] : rows) names.push_back(name);
  return names;
}

std::vector<std::string> linear_texts(const Transformer& model) {
  std::vector<std::string> texts;
  for (const Linear& l : linear_layers(model)) {
    texts.push_back(l.name + " " + std::to_string(l.outputs) + "x" + std::to_string(l.inputs));
  }
  return texts;
}

// 4 heads of 6 elements, 2 of them rotated, and values of 3; 5 latent elements.
Transformer latent_model() {
  return {.name = "latent",
          .layers = 2,
          .width = 8,
          .vocabulary = 100,
          .attentions = {{.layers = 2,
                          .heads = 4,
                          .kv_heads = 4,
                          .head_dim = 6,
                          .value_dim = 3,
                          .latent = Latent{.rank = 5, .rotated = 2, .query_rank = 7}}}};
}

TEST(Mixing, LatentAttentionMakesKeysOfAShortVector) {
  const Transformer model = latent_model();
  EXPECT_THAT(linear_texts(model), ElementsAre("q_a 7x8", "q_b 24x7", "kv_a 7x8", "kv_b 28x5",
                                               "o 8x12", "lm_head 100x8"));
  EXPECT_DOUBLE_EQ(cached_elements(model), 2 * 7);
}

TEST(Mixing, DecodingReadsTheShortVectorsOnce) {
  const auto rows = mixing_of(latent_model(), Phase::decode, 10);
  EXPECT_DOUBLE_EQ(rows.at("scores").flops, 2.0 * 10 * 4 * 7);
  EXPECT_DOUBLE_EQ(rows.at("scores").bytes, kBf16 * (10 * 7 + 4 * 7));
  EXPECT_DOUBLE_EQ(rows.at("values").flops, 2.0 * 10 * 4 * 5);
  EXPECT_DOUBLE_EQ(rows.at("values").bytes, kBf16 * 4 * 5);
  const auto prompt = mixing_of(latent_model(), Phase::prefill, 10);
  EXPECT_DOUBLE_EQ(prompt.at("scores").flops, 2.0 * 55 * 4 * 6);
  EXPECT_DOUBLE_EQ(prompt.at("values").flops, 2.0 * 55 * 4 * 3);
}

TEST(Mixing, AnIndexerLimitsTheKeysAndReadsItsOwn) {
  Transformer model = latent_model();
  model.attentions.front().indexer = Indexer{.heads = 3, .head_dim = 2, .chosen = 4};
  const auto rows = mixing_of(model, Phase::decode, 10);
  EXPECT_DOUBLE_EQ(rows.at("index").flops, 2.0 * 10 * 3 * 2);
  EXPECT_DOUBLE_EQ(rows.at("scores").flops, 2.0 * 4 * 4 * 7);
  EXPECT_DOUBLE_EQ(cached_elements(model, 10), 2 * 10 * (7 + 2));
}

TEST(Mixing, AWindowAndAChunkLimitPairs) {
  Transformer model{
      .name = "window",
      .layers = 1,
      .width = 8,
      .vocabulary = 100,
      .attentions = {
          {.layers = 1, .heads = 1, .kv_heads = 1, .head_dim = 1, .value_dim = 1, .window = 4}}};
  EXPECT_DOUBLE_EQ(mixing_of(model, Phase::prefill, 10).at("local_scores").flops, 2 * (10 + 6 * 4));
  EXPECT_DOUBLE_EQ(mixing_of(model, Phase::decode, 10).at("local_scores").flops, 2 * 4);
  EXPECT_DOUBLE_EQ(cached_elements(model, 10), 4 * 2);
  EXPECT_DOUBLE_EQ(cached_elements(model, 3), 3 * 2);
  model.attentions.front().chunked = true;
  EXPECT_DOUBLE_EQ(mixing_of(model, Phase::prefill, 10).at("local_scores").flops,
                   2 * (10 + 10 + 3));
}

TEST(Mixing, CompressedVectorsAreBesideAWindow) {
  const Transformer model{
      .name = "compressed",
      .layers = 1,
      .width = 8,
      .vocabulary = 100,
      .attentions = {{.layers = 1,
                      .heads = 4,
                      .kv_heads = 1,
                      .head_dim = 6,
                      .value_dim = 6,
                      .window = 4,
                      .indexer = Indexer{.heads = 3, .head_dim = 2, .chosen = 1},
                      .compressed = Compressed{
                          .query_rank = 7, .rate = 5, .output_groups = 2, .output_rank = 3}}}};
  EXPECT_THAT(linear_texts(model),
              ElementsAre("q_a 7x8", "q_b 24x7", "kv 6x8", "compress 24x8", "index_q 6x7",
                          "index_k 11x8", "o_a 3x12", "o_b 8x6", "lm_head 100x8"));
  EXPECT_DOUBLE_EQ(cached_elements(model, 20), 4 * 6 + 4 * (6 + 2));
  const auto rows = mixing_of(model, Phase::decode, 20);
  EXPECT_THAT(names_of_rows(rows), UnorderedElementsAre("index", "scores", "values"));
  EXPECT_DOUBLE_EQ(rows.at("scores").flops, 2.0 * (4 + 1) * 4 * 6);
  EXPECT_DOUBLE_EQ(rows.at("index").flops, 2.0 * 4 * 3 * 2);
}

TEST(Mixing, ARecurrenceReadsItsStateForEachSequence) {
  const Transformer model{
      .name = "state",
      .layers = 1,
      .width = 8,
      .vocabulary = 100,
      .recurrences = {{.layers = 1, .state = 12, .passed = 5, .flops_per_token = 60}}};
  const auto decode = mixing_of(model, Phase::decode, 10);
  EXPECT_DOUBLE_EQ(decode.at("state").flops, 60);
  EXPECT_DOUBLE_EQ(decode.at("state").bytes, 5 * kBf16 + 2 * 12 * kStateElementBytes);
  const auto prompt = mixing_of(model, Phase::prefill, 10);
  EXPECT_DOUBLE_EQ(prompt.at("state").flops, 600);
  EXPECT_DOUBLE_EQ(prompt.at("state").bytes, 10 * 5 * kBf16 + 2 * 12 * kStateElementBytes);
  EXPECT_DOUBLE_EQ(cached_elements(model, 10), 0);
  EXPECT_DOUBLE_EQ(state_elements(model), 12);
}

}  // namespace
}  // namespace ridgebench
