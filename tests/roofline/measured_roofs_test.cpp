#include "roofline/measured_roofs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/common/error.hpp"
#include "roofline/plan/measured_mfu.hpp"
#include "tests/roofline/results_directory.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using testing::engine_ceiling;
using ::testing::HasSubstr;
using testing::memory_ceiling;
using testing::message_of;
using testing::ResultsDirectory;
using testing::row;
using testing::Rows;

MeasuredRoofs roofs_of(const std::vector<json>& rows) {
  const ResultsDirectory directory(rows);
  return {read_results(directory.path()), "cpu"};
}

TEST(MeasuredRoofs, MemoryRoofHasTheNearestWrittenFraction) {
  const MeasuredRoofs roofs =
      roofs_of({memory_ceiling("read", 0, 40), memory_ceiling("copy", 0.5, 30),
                memory_ceiling("triad", 1.0 / 3, 35), memory_ceiling("write", 1, 20)});
  EXPECT_EQ(roofs.memory_roof(0)->id, "read");
  EXPECT_EQ(roofs.memory_roof(0.01)->id, "read");
  EXPECT_EQ(roofs.memory_roof(1.0 / 3)->id, "triad");
  EXPECT_EQ(roofs.memory_roof(0.5)->id, "copy");
  EXPECT_EQ(roofs.memory_roof(0.9)->id, "write");
}

TEST(MeasuredRoofs, OfTwoEquallyNearTheSlowerJudges) {
  EXPECT_EQ(roofs_of({memory_ceiling("read", 0, 40), memory_ceiling("copy", 0.5, 30)})
                .memory_roof(0.25)
                ->id,
            "copy");
  EXPECT_EQ(roofs_of({memory_ceiling("read", 0, 30), memory_ceiling("copy", 0.5, 40)})
                .memory_roof(0.25)
                ->id,
            "read");
}

TEST(MeasuredRoofs, OfSeveralOfOneKindTheFastestIsTheRoof) {
  const MeasuredRoofs roofs = roofs_of(
      {memory_ceiling("a", 0.5, 30), memory_ceiling("b", 0.5, 31), memory_ceiling("c", 0.5, 29),
       engine_ceiling("d", "fma", "fp32", 5), engine_ceiling("e", "fma", "fp32", 6)});
  EXPECT_EQ(roofs.memory_roof(0.5)->id, "b");
  EXPECT_EQ(roofs.engine_roof(Engine::fma, Format::fp32)->id, "e");
}

TEST(MeasuredRoofs, EngineRoofsAreKeptByEngineAndFormat) {
  const MeasuredRoofs roofs = roofs_of(
      {engine_ceiling("a", "fma", "bf16", 1e9), engine_ceiling("b", "tensor", "bf16", 8e9)});
  EXPECT_EQ(roofs.engine_roof(Engine::fma, Format::bf16)->per_s, 1e9);
  EXPECT_EQ(roofs.best_engine_roof(Format::bf16)->id, "b");
  EXPECT_FALSE(roofs.engine_roof(Engine::tensor, Format::fp16));
  EXPECT_THAT(roofs.formats(), ElementsAre(Format::bf16));
}

TEST(MeasuredRoofs, ThreeProductsOfTf32AreOneOfTf32x3) {
  const MeasuredRoofs roofs = roofs_of({engine_ceiling("a", "tensor", "tf32", 6e9)});
  EXPECT_EQ(roofs.engine_roof(Engine::tensor, Format::tf32x3)->per_s, 2e9);
  EXPECT_EQ(roofs.engine_roof(Engine::fma, Format::tf32x3), std::nullopt);
}

TEST(MeasuredRoofs, OnlyVerifiedSteadyCeilingsOfThisDeviceCount) {
  const auto changed = [](json ceiling, const char* key, const json& value) {
    ceiling[key] = value;
    return ceiling;
  };
  const json memory = memory_ceiling("m", 0.5, 30);
  const json tensor = engine_ceiling("t", "tensor", "bf16", 1e9);
  EXPECT_TRUE(roofs_of({changed(memory, "status", "wrong"), changed(memory, "regime", "warm"),
                        changed(memory, "role", "kernel"), changed(memory, "saturates", "cache"),
                        changed(memory, "device", "cuda:0"), changed(tensor, "technique", "burst"),
                        changed(tensor, "accumulator", "fp16"), row("k", json::object())})
                  .empty());
  EXPECT_FALSE(roofs_of({memory}).empty());
}

TEST(MeasuredRoofs, ACeilingWithoutItsRateIsNone) {
  json registers = engine_ceiling("fma", "fma", "fp32", 5);
  registers["bytes_per_s"] = 0;  // a register loop moves nothing
  EXPECT_FALSE(roofs_of({registers}).empty());
  EXPECT_TRUE(roofs_of({memory_ceiling("read", 0, 0)}).empty());
}

TEST(MeasuredRoofs, WithoutCeilingsThereAreNoRoofs) {
  const MeasuredRoofs roofs = roofs_of({});
  EXPECT_TRUE(roofs.empty());
  EXPECT_FALSE(roofs.memory_roof(0.5));
  EXPECT_FALSE(roofs.best_engine_roof(Format::fp32));
}

TEST(MalformedResults, NameFileLineAndKey) {
  const ResultsDirectory directory(Rows{row("a", json::object())});
  const std::string records = (directory.path() / "records.jsonl").string();
  const auto message = [&] {
    return message_of<UsageError>([&] { (void)read_results(directory.path()); });
  };
  directory.write("records.jsonl", row("a", json::object()).dump() + "\n{\"id\": \"b\"\n");
  EXPECT_THAT(message(), HasSubstr(records + ":2: not JSON"));
  directory.write("records.jsonl", R"({"id": "b"})"
                                   "\n");
  EXPECT_EQ(message(), records + ":1: key op is missing");
  directory.write("records.jsonl", row("a", {{"flops_per_s", -1}}).dump() + "\n");
  EXPECT_THAT(message(), HasSubstr(":1: flops_per_s is -1; allowed: a number from"));
  directory.write("records.jsonl", "");
  directory.write("environment.json", R"({"devices": 3})");
  EXPECT_THAT(message(), HasSubstr("environment.json: devices is 3; allowed: an array"));
}

TEST(MalformedResults, AMissingFileIsNamed) {
  const ResultsDirectory directory(Rows{});
  std::filesystem::remove(directory.path() / "records.jsonl");
  EXPECT_THAT(message_of<UsageError>([&] { (void)read_results(directory.path()); }),
              HasSubstr("records.jsonl: cannot be read"));
}

TEST(MeasuredMfu, IsTheBestVerifiedMatmulOfTheFormat) {
  const json bf16{{"format", "bf16"}, {"mfu", 0.6}};
  const auto with = [&](json changes) {
    json all = bf16;
    all.update(changes);
    return all;
  };
  const ResultsDirectory directory(Rows{row("a", bf16), row("b", with({{"mfu", 0.7}})),
                                        row("wrong", with({{"mfu", 0.9}, {"status", "wrong"}})),
                                        row("warm", with({{"mfu", 0.9}, {"regime", "warm"}})),
                                        row("relu", with({{"mfu", 0.9}, {"op", "relu"}})),
                                        row("fp8", with({{"mfu", 0.9}, {"format", "fp8_e4m3"}}))});
  const MeasuredMfu best = best_matmul_mfu(read_results(directory.path()), Format::bf16);
  EXPECT_DOUBLE_EQ(best.mfu, 0.7);
  EXPECT_EQ(best.id, "b");
}

TEST(MeasuredMfu, AHostHasNoneAndTheMessageSaysWhy) {
  const ResultsDirectory directory(Rows{row("a", {{"format", "bf16"}})});
  const Results results = read_results(directory.path());
  EXPECT_THAT(message_of<UsageError>([&] { (void)best_matmul_mfu(results, Format::bf16); }),
              HasSubstr("no data sheet (a host)"));
  EXPECT_THAT(message_of<UsageError>([&] { (void)best_matmul_mfu(results, Format::fp16); }),
              HasSubstr("no steady fp16 matmul"));
}

}  // namespace
}  // namespace ridgebench
