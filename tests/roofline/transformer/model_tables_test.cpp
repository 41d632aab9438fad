// The tables that scripts/try/models.sh writes: what transformers counts of each model.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "kernels/common/error.hpp"
#include "roofline/transformer/transformer.hpp"
#include "tests/harness/results/written_results.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-3;
constexpr double kStatedTolerance = 0.01;
constexpr std::int64_t kTokens = 64;  // of the cache in the tables

std::vector<json> rows_of(const std::string& table) {
  std::ifstream file(RIDGEBENCH_SOURCE_DIR "/tests/data/models/" + table);
  std::vector<json> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(json::parse(line));
  return rows;
}

// Empty if the program refuses the model, and then with one line that begins with the name.
std::optional<Transformer> counted_model(const json& row) {
  const auto name = row.at("name").get<std::string>();
  try {
    return parse_transformer(row.at("config").dump(), name);
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith(name + ": "));
    EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("\n")));
    return std::nullopt;
  }
}

void expect_counts(const json& row, const Transformer& model) {
  if (row.contains("parameters")) {
    EXPECT_NEAR(parameters(model) / row.at("parameters").get<double>(), 1, kTolerance)
        << row.at("name");
  }
  if (row.contains("stated")) {
    EXPECT_NEAR(parameters(model) / row.at("stated").get<double>(), 1, kStatedTolerance)
        << row.at("name");
  }
  if (!row.contains("cached") || !model.recurrences.empty()) return;
  EXPECT_DOUBLE_EQ(cached_elements(model, kTokens), row.at("cached").get<double>())
      << row.at("name");
}

class ModelTables : public ::testing::TestWithParam<const char*> {};

TEST_P(ModelTables, EachAcceptedModelHasTheCountsOfTransformers) {
  const std::vector<json> rows = rows_of(GetParam());
  ASSERT_GT(rows.size(), 20U);
  for (const json& row : rows) {
    if (const auto model = counted_model(row)) expect_counts(row, *model);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelTables, ::testing::Values("classes.jsonl", "kinds.jsonl"));

std::vector<std::string> refused_names(const std::string& table) {
  std::vector<std::string> names;
  for (const json& row : rows_of(table)) {
    if (!counted_model(row)) names.push_back(row.at("name").get<std::string>());
  }
  return names;
}

TEST(ModelTables, OfTheRealKindsTheseAreRefused) {
  EXPECT_THAT(refused_names("kinds.jsonl"),
              ::testing::UnorderedElementsAre(
                  "albert-base-v1", "git", "jamba", "kimi-k3", "llama-3-3-nemotron-super-49b-v1",
                  "mllama", "phi4", "t5", "tests-cpu-bert-base-config", "whisper", "yuan"));
}

TEST(ModelTables, OfTheClassesSoManyAreRefused) {
  EXPECT_EQ(refused_names("classes.jsonl").size(), 78U);
}

struct Counts {
  double all;
  double active;
  double cached;

  friend bool operator==(const Counts&, const Counts&) = default;
};

// Empty for a model that is refused.
std::optional<Counts> counts_of(const json& config) {
  constexpr std::int64_t kLongContext = 100000;
  try {
    const Transformer model = parse_transformer(config.dump(), "config.json");
    return Counts{parameters(model), active_parameters(model),
                  cached_elements(model, kLongContext)};
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

// The classes count with their defaults. A file that leaves a key out gives the same, or an error.
TEST(ModelTables, AKeyThatAFileLeavesOutHasTheDefaultOfItsClass) {
  // The script completes some that the class cannot be built without. The others have text configs
  // with sizes of their own, and one that leaves them out has those of its model_type.
  const std::set<std::string> completed{
      "dots1",    "hunyuan_v1_dense", "hunyuan_v1_moe",         "ministral",
      "nemotron", "got_ocr2",         "moss_transcribe_diarize"};
  for (const json& row : rows_of("classes.jsonl")) {
    const auto name = row.at("name").get<std::string>();
    const json& config = row.at("config");
    const auto whole = counts_of(config);
    if (!whole || completed.contains(name)) continue;
    const bool nested = config.contains("text_config");
    const json inner = nested ? config.at("text_config") : config;
    for (const auto& [key, value] : inner.items()) {
      if (key == "model_type") continue;
      json less = config;
      (nested ? less.at("text_config") : less).erase(key);
      const auto counts = counts_of(less);
      EXPECT_TRUE(!counts || *counts == *whole) << name << " without " << key;
    }
  }
}

// Python reads a flag that is null as false. Another key without a value means what its class makes
// of None: keys and values of all heads, no window, no experts, no low rank. A width of experts
// that is null is that of the dense network; no class can be built with it.
TEST(ModelTables, NullIsFalseOrNoValue) {
  const std::set<std::string> none{"attention_chunk_size",
                                   "first_k_dense_replace",
                                   "global_head_dim",
                                   "head_dim",
                                   "hidden_size_per_layer_input",
                                   "index_n_heads",
                                   "intermediate_size",
                                   "max_position_embeddings",
                                   "mlp_only_layers",
                                   "moe_intermediate_size",
                                   "moe_layer_start_index",
                                   "moe_num_experts",
                                   "moe_num_shared_experts",
                                   "n_positions",
                                   "n_routed_experts",
                                   "n_shared_experts",
                                   "num_dense_layers",
                                   "num_experts",
                                   "num_key_value_heads",
                                   "num_local_experts",
                                   "num_shared_experts",
                                   "q_lora_rank",
                                   "shared_expert_intermediate_size",
                                   "shared_intermediate_size",
                                   "sliding_window",
                                   "v_head_dim"};
  for (const json& row : rows_of("classes.jsonl")) {
    const auto name = row.at("name").get<std::string>();
    const json& config = row.at("config");
    const auto whole = counts_of(config);
    if (!whole) continue;
    const bool nested = config.contains("text_config");
    const json inner = nested ? config.at("text_config") : config;
    const auto with = [&](const std::string& key, const json& value) {
      json changed = config;
      (nested ? changed.at("text_config") : changed)[key] = value;
      return counts_of(changed);
    };
    for (const auto& [key, value] : inner.items()) {
      if (key == "model_type") continue;
      const auto counts = with(key, nullptr);
      if (value.is_boolean()) {
        EXPECT_EQ(counts, with(key, false)) << name << " with " << key;
      } else if (!none.contains(key)) {
        EXPECT_TRUE(!counts || *counts == *whole) << name << " with " << key;
      }
    }
  }
}

// A message names the model_type or a key of the config.
TEST(ModelTables, ARefusalNamesAKey) {
  for (const json& row : rows_of("classes.jsonl")) {
    const json& config = row.at("config");
    const std::string message = testing::message_of<UsageError>(
        [&] { (void)parse_transformer(config.dump(), "config.json"); });
    if (message.empty()) continue;
    const json& inner = config.contains("text_config") ? config.at("text_config") : config;
    const auto names = [&](const json& keys) {
      return std::ranges::any_of(keys.items(), [&](const auto& item) {
        return message.find(item.key() + " is ") != std::string::npos;
      });
    };
    const bool missing = message.find("missing: ") != std::string::npos;
    EXPECT_TRUE(names(config) || names(inner) || missing) << row.at("name") << message;
  }
}

}  // namespace
}  // namespace ridgebench
