// The committed schema and table must agree with the list of a record's keys.
#include "tests/support/record_docs.hpp"

#include <gmock/gmock.h>

#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

const std::string kRoot = RIDGEBENCH_SOURCE_DIR;

TEST(RecordDocs, TheCommittedSchemaIsCurrent) {
  EXPECT_EQ(read_file(kRoot + "/results/schema/record.schema.json"), record_schema())
      << "to renew: record_docs schema > results/schema/record.schema.json";
}

TEST(RecordDocs, TheTableOfKeysIsCurrent) {
  EXPECT_THAT(read_file(kRoot + "/docs/record.md"),
              ::testing::HasSubstr("<!-- table: record keys -->\n" + record_key_table() +
                                   "<!-- /table -->"))
      << "to renew: record_docs table";
}

TEST(RecordDocs, TheSchemaAndTheTableOfTheJudgementAreCurrent) {
  EXPECT_EQ(read_file(kRoot + "/results/schema/judged.schema.json"), judged_schema())
      << "to renew: record_docs judged_schema > results/schema/judged.schema.json";
  EXPECT_THAT(read_file(kRoot + "/docs/method/judged.md"),
              ::testing::HasSubstr("<!-- table: judged keys -->\n" + judged_key_table() +
                                   "<!-- /table -->"))
      << "to renew: record_docs judged_table";
}

TEST(RecordDocs, TheSchemaAndTheTableOfAStepAreCurrent) {
  EXPECT_EQ(read_file(kRoot + "/results/schema/step.schema.json"), step_schema())
      << "to renew: record_docs step_schema > results/schema/step.schema.json";
  EXPECT_THAT(
      read_file(kRoot + "/docs/step.md"),
      ::testing::HasSubstr("<!-- table: step keys -->\n" + step_key_table() + "<!-- /table -->"))
      << "to renew: record_docs step_table";
}

TEST(RecordDocs, TheSchemaAndTheTableOfAnExplanationAreCurrent) {
  EXPECT_EQ(read_file(kRoot + "/results/schema/explained.schema.json"), explained_schema())
      << "to renew: record_docs explained_schema > results/schema/explained.schema.json";
  EXPECT_THAT(read_file(kRoot + "/docs/explain.md"),
              ::testing::HasSubstr("<!-- table: explained keys -->\n" + explained_key_table() +
                                   "<!-- /table -->"))
      << "to renew: record_docs explained_table";
}

}  // namespace
}  // namespace ridgebench
