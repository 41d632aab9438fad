#include "harness/results/measured_roofs.hpp"

#include <gmock/gmock.h>

#include "kernels/common/error.hpp"
#include "roofline/embedded_json.hpp"
#include "tests/harness/results/written_results.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::engine_ceiling;
using ::testing::HasSubstr;
using testing::memory_ceiling;
using testing::message_of;
using testing::row;
using testing::Rows;
using testing::WrittenResults;

std::string rejection(const std::string& device) {
  return message_of<UsageError>([&] { (void)open_roofs(device); });
}

bool counts(const json& ceiling) {
  return ceiling_rate(parse_record(ceiling.dump(), "a test")).has_value();
}

TEST(CeilingRate, OnlyVerifiedSteadyCeilingsCount) {
  const auto changed = [](json ceiling, const char* key, const json& value) {
    ceiling[key] = value;
    return ceiling;
  };
  const json memory = memory_ceiling("m", 0.5, 30);
  const json tensor = engine_ceiling("t", "tensor", "bf16", 1e9);
  EXPECT_TRUE(counts(memory));
  EXPECT_TRUE(counts(tensor));
  EXPECT_FALSE(counts(changed(memory, "regime", "warm")));
  EXPECT_FALSE(counts(changed(memory, "role", "kernel")));
  EXPECT_FALSE(counts(changed(memory, "saturates", "cache")));
  EXPECT_FALSE(counts(changed(tensor, "accumulator", "fp16")));
  EXPECT_FALSE(counts(changed(tensor, "burst", true)));
  EXPECT_FALSE(counts(changed(tensor, "flags", {kPartialRate})));
  EXPECT_FALSE(counts(changed(memory, "flags", {kServedByCache})));
  EXPECT_TRUE(counts(changed(memory, "flags", {kShortRotation}))) << "the host limits rotations";
  EXPECT_FALSE(counts(row("k", json::object())));
  json wrong = changed(memory, "status", "wrong");
  wrong["time_median_s"] = nullptr;
  EXPECT_FALSE(counts(wrong));
}

TEST(Products, AreTheOperationsOfTensorEngines) {
  const auto of = [](const char* operation) {
    Record r;
    r.op = operation;
    return is_product(r);
  };
  for (const char* const name : {"matmul", "matmul_gelu", "matmul_block_scaled", "matmul_mxfp8",
                                 "matmul_nvfp4", "matmul_grouped"}) {
    EXPECT_TRUE(of(name)) << name;
  }
  for (const char* const name :
       {"matvec", "gelu", "attention_decode", "tensor_peak", "not_there"}) {
    EXPECT_FALSE(of(name)) << name;
  }
}

bool is_above(const json& record) { return above_roof(parse_record(record.dump(), "a test")); }

// The row does 1e9 FLOPs and moves 1e9 bytes in a second.
TEST(AboveRoof, IsAVerifiedSteadyRowFasterThanItsRoofByMoreThanAPercent) {
  const auto with = [](const char* rate, double per_s, json changes = json::object()) {
    json record = row("k", changes);
    record["roof"]["flops_per_s"] = 1e10;
    record["roof"]["bytes_per_s"] = 1e10;
    record["roof"][rate] = per_s;
    return record;
  };
  EXPECT_FALSE(is_above(with("bytes_per_s", 1e9 / 1.009)));
  EXPECT_TRUE(is_above(with("bytes_per_s", 1e9 / 1.011)));
  EXPECT_TRUE(is_above(with("flops_per_s", 1e9 / 1.011)));
  EXPECT_FALSE(is_above(with("flops_per_s", 1e9 / 1.011, {{"engine", "memory"}})));
  EXPECT_FALSE(is_above(with("bytes_per_s", 5e8, {{"regime", "warm"}})));
  EXPECT_FALSE(is_above(with("bytes_per_s", 5e8, {{"role", "ceiling"}, {"saturates", "memory"}})));
  EXPECT_FALSE(is_above(with("bytes_per_s", 5e8, {{"fraction_of_measured_roof", nullptr}})));
  EXPECT_FALSE(is_above(with("bytes_per_s", 5e8, {{"flags", {kServedByCache}}})));
  EXPECT_TRUE(is_above(with("bytes_per_s", 5e8, {{"flags", {kShortRotation}}})));
}

TEST(CeilingRate, InOlderRecordsTheNameTellsABurst) {
  json burst = engine_ceiling("t", "tensor", "bf16", 1e9);
  burst["technique"] = "wgmma_burst";
  EXPECT_TRUE(counts(burst));
  burst.erase("burst");
  EXPECT_FALSE(counts(burst));
}

TEST(CeilingRate, ACeilingWithoutItsRateIsNone) {
  json registers = engine_ceiling("fma", "fma", "fp32", 5);
  registers["bytes"] = 0;  // a loop on registers has no bytes
  EXPECT_TRUE(counts(registers));
  EXPECT_FALSE(counts(memory_ceiling("read", 0, 0)));
}

TEST(OpenRoofs, AnUnknownDeviceListsWhatIsAllowed) {
  EXPECT_THAT(rejection("h300"), AllOf(HasSubstr("unknown device 'h300'"), HasSubstr("h100-sxm"),
                                       HasSubstr("results directory")));
  EXPECT_THAT(rejection(""), HasSubstr("unknown device ''"));
}

TEST(OpenRoofs, ADataSheetFileServesAsADevice) {
  const WrittenResults directory(Rows{});
  json sheet = json::parse(embedded_sheets().front().text);
  sheet["name"] = "mine";
  directory.write("mine.json", sheet.dump());
  EXPECT_EQ(open_roofs((directory.path() / "mine.json").string()).name(), "mine");
}

TEST(OpenRoofs, AResultsDirectoryGivesTheRoofOfTheTrafficMix) {
  const WrittenResults directory(Rows{memory_ceiling("read", 0, 40e9),
                                      memory_ceiling("copy", 0.5, 30e9),
                                      engine_ceiling("fma", "fma", "fp32", 490e9)});
  const Roofs roofs = open_roofs(directory.path().string());
  EXPECT_EQ(roofs.name(), "Test host in " + directory.path().string());
  EXPECT_EQ(roofs.peak(Format::fp32).origin, "fma");
  const auto model = [&](double written_fraction) {
    return limiting_rates(roofs, Engine::fma, Format::fp32, written_fraction).roof();
  };
  EXPECT_DOUBLE_EQ(model(0.5).bandwidth_bytes_per_s, 30e9);
  EXPECT_DOUBLE_EQ(model(0).ridge(), 490.0 / 40);
  EXPECT_DOUBLE_EQ(*roofs.memory_bytes(), 16e9);
}

TEST(OpenRoofs, AStorageFormatHasThePeakOfItsArithmetic) {
  const WrittenResults directory(Rows{engine_ceiling("fma", "fma", "fp32", 490e9),
                                      row("k", {{"format", "fp16"}, {"arithmetic", "fp32"}})});
  const Roofs roofs = open_roofs(directory.path().string());
  EXPECT_EQ(roofs.peak(Format::fp16).origin, "fma");
  EXPECT_THAT(message_of<UsageError>([&] { (void)roofs.peak(Format::bf16); }),
              HasSubstr("has no peak for bf16; it has: fp32"));
  EXPECT_THAT(message_of<UsageError>([&] { (void)roofs.bandwidth(0); }),
              HasSubstr("no memory ceiling"));
}

TEST(OpenRoofs, AProductWhoseEngineHasNoCeilingLeavesThePeakUnknown) {
  const json naive{{"format", "bf16"}, {"arithmetic", "fp32"}, {"engine", "fma"}};
  const json wgmma{{"format", "bf16"}, {"arithmetic", "bf16"}, {"engine", "tensor"}};
  const WrittenResults directory(
      Rows{engine_ceiling("fma", "fma", "fp32", 490e9), row("a", naive), row("b", wgmma)});
  const Roofs roofs = open_roofs(directory.path().string());
  EXPECT_FALSE(roofs.arithmetic_roof(Engine::tensor, Format::bf16));
  EXPECT_EQ(roofs.arithmetic_roof(Engine::fma, Format::bf16)->origin, "fma");
}

TEST(OpenRoofs, ARowThatCachesMayServeRaisesNoRoof) {
  const auto roof = [](const json& of_ceiling, const json& of_row) {
    json ceiling = memory_ceiling("copy", 0.5, 30e9);
    ceiling["flags"] = of_ceiling;
    const json kernel{{"bytes", 90e9}, {"written_fraction", 0.5}, {"flags", of_row}};
    const WrittenResults directory(Rows{ceiling, row("fast", kernel)});
    return open_roofs(directory.path().string()).memory_roof(0.5)->origin;
  };
  const json none = json::array();
  EXPECT_EQ(roof(none, none), "fast");
  EXPECT_EQ(roof(none, {kShortRotation, kServedByCache}), "copy");
  EXPECT_EQ(roof(none, {kShortRotation}), "copy") << "older records";
  EXPECT_EQ(roof({kShortRotation}, {kShortRotation}), "fast") << "the host limits rotations";
  EXPECT_EQ(roof({kShortRotation}, {kShortRotation, kServedByCache}), "copy");
}

TEST(OpenRoofs, ARoofIsTheBestThatAVerifiedRowReached) {
  const auto relu = [](const char* id, double bytes, const json& changes = json::object()) {
    json kernel = row(id, {{"op", "relu"}, {"bytes", bytes}, {"written_fraction", 0.5}});
    kernel.update(changes);
    return kernel;
  };
  const WrittenResults directory(
      Rows{memory_ceiling("copy", 0.5, 30e9), memory_ceiling("read", 0, 40e9),
           engine_ceiling("fma", "fma", "fp32", 1e9), relu("as fast", 30.2e9), relu("fast", 31e9),
           relu("faster", 31.2e9), relu("warm", 90e9, {{"regime", "warm"}}),
           relu("a burst", 90e9, {{"burst", true}}),
           relu("wrong", 90e9, {{"status", "wrong"}, {"time_median_s", nullptr}}),
           row("many products", {{"flops", 1.1e9}}), relu("gelu", 1e9, {{"flops", 9e9}})});
  const Roofs roofs = open_roofs(directory.path().string());
  EXPECT_EQ(roofs.memory_roof(0.5)->origin, "faster");
  EXPECT_DOUBLE_EQ(roofs.memory_roof(0.5)->per_s, 31.2e9);
  EXPECT_EQ(roofs.memory_roof(0)->origin, "read");
  EXPECT_EQ(roofs.engine_roof(Engine::fma, Format::fp32)->origin, "many products")
      << "GeLU's FLOPs are a convention";
}

TEST(OpenRoofs, ADirectoryKnowsItsDataSheetAndItsLaunchFloor) {
  const auto roofs_with = [](const json& device) {
    const WrittenResults directory(Rows{memory_ceiling("copy", 0.5, 30e9)}, json::array({device}));
    return open_roofs(directory.path().string());
  };
  const json h100{{"name", "cpu"},
                  {"model", "Test"},
                  {"memory_bytes", nullptr},
                  {"data_sheet", "h100-sxm"},
                  {"launch_floor_s", 7e-7}};
  EXPECT_EQ(roofs_with(h100).data_sheet(), "h100-sxm");
  EXPECT_EQ(roofs_with(h100).launch_floor_s(), 7e-7);
  const Roofs host = roofs_with({{"name", "cpu"},
                                 {"model", "Test"},
                                 {"memory_bytes", nullptr},
                                 {"data_sheet", nullptr},
                                 {"launch_floor_s", nullptr}});
  EXPECT_EQ(host.data_sheet(), "");
  EXPECT_FALSE(host.launch_floor_s());
}

TEST(OpenRoofs, ADirectoryOfSeveralDevicesAsksWhichOne) {
  json on_gpu = engine_ceiling("gpu", "fma", "fp32", 60e12);
  on_gpu["device"] = "cuda:0";
  const json devices{{{"name", "cpu"}, {"model", "Host"}, {"memory_bytes", nullptr}},
                     {{"name", "cuda:0"}, {"model", "GPU"}, {"memory_bytes", nullptr}}};
  const WrittenResults directory(Rows{engine_ceiling("host", "fma", "fp32", 490e9), on_gpu},
                                 devices);
  const std::string path = directory.path().string();
  EXPECT_THAT(rejection(path), HasSubstr("allowed: " + path + "@cpu, " + path + "@cuda:0"));
  EXPECT_EQ(open_roofs(path + "@cuda:0").peak(Format::fp32).origin, "gpu");
  EXPECT_THAT(rejection(path + "@cuda:7"), HasSubstr("no ceiling with status ok of device cuda:7"));
  EXPECT_FALSE(open_roofs(path + "@cpu").memory_bytes());
}

TEST(OpenRoofs, ADirectoryWithoutCeilingsIsNoDevice) {
  const WrittenResults directory(Rows{});
  EXPECT_THAT(rejection(directory.path().string()), HasSubstr("holds no ceiling"));
}

TEST(OpenRoofs, AMistakeInTheFilesIsNamedByFileLineAndKey) {
  const WrittenResults directory(Rows{row("a", json::object())});
  const std::string records = (directory.path() / "records.jsonl").string();
  const auto message = [&] { return rejection(directory.path().string()); };
  directory.write("records.jsonl", row("a", json::object()).dump() + "\n{\"id\": \"b\"\n");
  EXPECT_THAT(message(), HasSubstr(records + ":2: not JSON"));
  directory.write("records.jsonl", R"({"schema": "ridgebench.record/1"})"
                                   "\n");
  EXPECT_EQ(message(), records + ":1: key id is missing");
  directory.write("records.jsonl", row("a", {{"flops", -1}}).dump() + "\n");
  EXPECT_THAT(message(), HasSubstr(":1: flops is -1; allowed: a number from"));
  directory.write("records.jsonl", "");
  directory.write("environment.json", R"({"devices": 3})");
  EXPECT_THAT(message(), HasSubstr("environment.json: devices is 3; allowed: an array"));
}

TEST(OpenRoofs, AMissingFileIsNamed) {
  const WrittenResults directory(Rows{});
  std::filesystem::remove(directory.path() / "records.jsonl");
  EXPECT_THAT(rejection(directory.path().string()), HasSubstr("records.jsonl: cannot be read"));
}

TEST(MeasuredMfu, IsTheBestVerifiedMatmulOfTheFormat) {
  const json bf16{{"format", "bf16"}, {"mfu", 0.6}};
  const auto with = [&](json changes) {
    json all = bf16;
    all.update(changes);
    return all;
  };
  const WrittenResults directory(
      Rows{row("a", bf16), row("b", with({{"mfu", 0.7}})),
           row("wrong", with({{"mfu", 0.9}, {"status", "wrong"}, {"time_median_s", nullptr}})),
           row("warm", with({{"mfu", 0.9}, {"regime", "warm"}})),
           row("relu", with({{"mfu", 0.9}, {"op", "relu"}})),
           row("fp8", with({{"mfu", 0.9}, {"format", "fp8_e4m3"}}))},
      json{{{"name", "cpu"},
            {"model", "H100"},
            {"memory_bytes", 80e9},
            {"data_sheet", "h100-sxm"}}});
  const MeasuredMfu best = best_matmul_mfu(directory.path().string(), Format::bf16);
  EXPECT_DOUBLE_EQ(best.mfu, 0.7);
  EXPECT_EQ(best.id, "b");
  EXPECT_EQ(best.data_sheet, "h100-sxm");
  EXPECT_EQ(best.remark, "power state full_clock");
}

TEST(MeasuredMfu, SaysThePowerStateAndPrefersARowThatTheRunFinished) {
  const json sheet{
      {{"name", "cpu"}, {"model", "H100"}, {"memory_bytes", 80e9}, {"data_sheet", "h100-sxm"}}};
  const auto of = [](double mfu, const char* state, bool few) {
    json changes{{"format", "bf16"}, {"mfu", mfu}, {"power_state", state}};
    if (few) changes["flags"] = {"few_samples"};
    return changes;
  };
  const WrittenResults both(
      Rows{row("whole", of(0.6, "capped", false)), row("cut", of(0.7, "full_clock", true))}, sheet,
      json{{"budget_s", 60}});
  const MeasuredMfu best = best_matmul_mfu(both.path().string(), Format::bf16);
  EXPECT_EQ(best.id, "whole");
  EXPECT_EQ(best.remark, "power state capped");
  const WrittenResults cut(Rows{row("cut", of(0.7, "full_clock", true))}, sheet,
                           json{{"budget_s", 60}});
  EXPECT_EQ(best_matmul_mfu(cut.path().string(), Format::bf16).remark,
            "power state full_clock, and the run could not finish the row");
}

TEST(MeasuredMfu, NamesTheDataSheetThatItIsAShareOf) {
  const WrittenResults directory(Rows{row("a", {{"format", "bf16"}, {"mfu", 0.6}})});
  EXPECT_THAT(message_of<UsageError>(
                  [&] { (void)best_matmul_mfu(directory.path().string(), Format::bf16); }),
              HasSubstr("environment.json names no data sheet for the device of a"));
}

TEST(MeasuredMfu, AHostHasNoneAndTheMessageSaysWhy) {
  const WrittenResults directory(Rows{row("a", {{"format", "bf16"}})});
  const std::string path = directory.path().string();
  EXPECT_THAT(message_of<UsageError>([&] { (void)best_matmul_mfu(path, Format::bf16); }),
              HasSubstr("no data sheet (a host)"));
  EXPECT_THAT(message_of<UsageError>([&] { (void)best_matmul_mfu(path, Format::fp16); }),
              HasSubstr("no steady fp16 matmul"));
}

}  // namespace
}  // namespace ridgebench
