// The tables that scripts/try/models.sh writes: what transformers counts of each model.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "kernels/common/error.hpp"
#include "roofline/transformer/transformer.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-3;
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

TEST(ModelTables, MostDecodersAreAccepted) {
  std::size_t accepted = 0;
  for (const json& row : rows_of("classes.jsonl")) {
    if (counted_model(row)) ++accepted;
  }
  EXPECT_GE(accepted, 110U);
}

}  // namespace
}  // namespace ridgebench
