#include "harness/results/verify/schema_problems.hpp"

#include <gmock/gmock.h>

namespace ridgebench {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const json kSchema = json::parse(R"({
  "title": "a thing", "type": "object", "required": ["name", "parts"],
  "properties": {
    "name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 1},
    "kind": {"enum": ["small", null]},
    "size": {"type": ["integer", "null"], "minimum": 1},
    "share": {"type": "number", "exclusiveMinimum": 0},
    "parts": {"type": "array", "minItems": 1, "items": {"required": ["id"]}},
    "sums": {"type": "object", "additionalProperties": {"type": "boolean"}}
  }})");

std::vector<std::string> problems_of(const char* text) {
  return schema_problems(json::parse(text), kSchema, "thing.json");
}

TEST(SchemaProblems, AValueThatObeysHasNone) {
  EXPECT_THAT(problems_of(R"({"name": "a", "kind": null, "size": 2.0, "share": 0.5,
                              "parts": [{"id": 1}], "sums": {"x": true}, "other": []})"),
              IsEmpty());
}

TEST(SchemaProblems, EachPlaceThatBreaksARuleIsNamedWithWhatIsAllowed) {
  EXPECT_THAT(problems_of("[]"), ElementsAre("thing.json is an empty array; allowed: object"));
  EXPECT_THAT(problems_of(R"({"name": "a"})"), ElementsAre("thing.json lacks parts"));
  EXPECT_THAT(
      problems_of(R"({"name": "A1", "kind": "large", "size": 0, "share": 0, "parts": [{}]})"),
      ElementsAre("thing.json: kind is \"large\"; allowed: small, null",
                  "thing.json: name is \"A1\"; allowed: a text of the form ^[a-z]+$",
                  "thing.json: parts[0] lacks id", "thing.json: share is 0; allowed: above 0",
                  "thing.json: size is 0; allowed: 1 or more"));
  EXPECT_THAT(problems_of(R"({"name": "a", "size": 1.5, "parts": [], "sums": {"x": 1}})"),
              ElementsAre("thing.json: parts is an empty array; allowed: 1 or more",
                          "thing.json: size is 1.5; allowed: integer, null",
                          "thing.json: sums.x is 1; allowed: boolean"));
}

TEST(SchemaProblems, AKeywordThatItDoesNotKnowIsAnError) {
  EXPECT_THROW(schema_problems(1, {{"maximum", 1}}, "x"), std::logic_error);
}

}  // namespace
}  // namespace ridgebench
