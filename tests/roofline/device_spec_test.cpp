#include "roofline/device_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kernels/common/error.hpp"
#include "roofline/embedded_json.hpp"
#include "tests/harness/results/written_results.hpp"

namespace ridgebench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::Not;

nlohmann::json sheet_json() {
  for (const EmbeddedJson& sheet : embedded_sheets()) {
    if (sheet.name == "h100-sxm") return nlohmann::json::parse(sheet.text);
  }
  return {};
}

std::string sheet_rejection(const nlohmann::json& sheet) {
  return message_of<UsageError>([&] { (void)parse_data_sheet(sheet.dump(), "x.json"); });
}

std::string rejection_of(const std::string& pointer, const nlohmann::json& value) {
  nlohmann::json sheet = sheet_json();
  sheet[nlohmann::json::json_pointer(pointer)] = value;
  return sheet_rejection(sheet);
}

TEST(DataSheets, EverySheetOfTheProjectIsEmbeddedAndParses) {
  EXPECT_EQ(data_sheet_names(),
            "a10, a100-40-pcie, a100-40-sxm, a100-80-pcie, a100-80-sxm, a10g, a30, a800-80-sxm, "
            "b200, b300, gb10, gb200, gb300, gh200-144, gh200-96, h100-nvl, h100-pcie, h100-sxm, "
            "h20, h20-141, h200, h800-sxm, jetson-agx-orin, jetson-thor, l4, l40, l40s, "
            "mi250x-gcd, mi300x, mi325x, mi350x, mi355x, rtx-a6000, rtx-pro-6000, rtx3090, "
            "rtx4080, rtx4090, rtx5080, rtx5090, t4, tpu-v5e, tpu-v5p, tpu-v6e, v100-16-sxm2, "
            "v100-32-sxm2");
}

TEST(DataSheets, AreFoundByNameAndAliasInAnyCase) {
  ASSERT_NE(find_data_sheet("H100-SXM"), nullptr);
  EXPECT_EQ(find_data_sheet("H100-SXM")->name, "h100-sxm");
  EXPECT_EQ(find_data_sheet("gh200"), find_data_sheet("gh200-96"));
  for (const auto& [alias, name] :
       {std::pair("h100", "h100-sxm"), std::pair("H100", "h100-sxm"),
        std::pair("A100", "a100-80-sxm"), std::pair("4090", "rtx4090"),
        std::pair("DGX-Spark", "gb10"), std::pair("v100", "v100-16-sxm2"),
        std::pair("agx-orin", "jetson-agx-orin"), std::pair("V5E", "tpu-v5e")}) {
    EXPECT_EQ(find_data_sheet(alias), find_data_sheet(name)) << alias;
  }
  for (const char* module : {"Orin", "jetson-orin"}) {  // AGX, NX and Nano have other peaks
    EXPECT_EQ(find_data_sheet(module), nullptr) << module;
  }
  // The name that nvidia-smi prints, with or without the vendor.
  for (const char* model : {"NVIDIA H100 80GB HBM3", "h100 80gb hbm3", "nvidia h100 80GB HBM3"}) {
    EXPECT_EQ(find_data_sheet(model), find_data_sheet("h100-sxm")) << model;
    EXPECT_EQ(match_data_sheet(model, ""), find_data_sheet("h100-sxm")) << model;
  }
  // Lines of lspci and of nvidia-smi -L.
  for (const auto& [line, name] :
       {std::pair("51:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)",
                  "h100-sxm"),
        std::pair("0000:c1:00.0 3D controller [0302]: NVIDIA Corporation GV100GL [Tesla V100 SXM2 "
                  "16GB] [10de:1db1] (rev a1)",
                  "v100-16-sxm2"),
        std::pair("NVIDIA Corporation AD102 [GeForce RTX 4090] (rev a1) (prog-if 00 [VGA])",
                  "rtx4090"),
        std::pair("41:00.0 Processing accelerators: Advanced Micro Devices, Inc. [AMD/ATI] Aqua "
                  "Vanjaram [Instinct MI300X] (rev a1)",
                  "mi300x"),
        std::pair("GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1234)", "h100-sxm")}) {
    EXPECT_EQ(find_data_sheet(line), find_data_sheet(name)) << line;
  }
  for (const char* none : {"GPU 0", "GPU x: NVIDIA H200", "GPU 0: ", "NVIDIA Corporation "}) {
    EXPECT_EQ(find_data_sheet(none), nullptr) << none;
  }
  for (const DeviceSpec& sheet : data_sheets()) {
    for (const std::string& model : sheet.match_names) {
      EXPECT_EQ(find_data_sheet(model), &sheet) << model;
      EXPECT_EQ(match_data_sheet(model, ""), &sheet) << model;
    }
  }
  EXPECT_EQ(find_data_sheet("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), nullptr);
  for (const char* part :
       {"GRID A100X-4C", "NVIDIA A100-1-5CME", "NVIDIA A10-24Q", "NVIDIA A10-6"}) {
    EXPECT_EQ(match_data_sheet(part, "10de:20b0"), nullptr) << part;
  }
  for (const char* whole : {"NVIDIA A100-PG509-200", "NVIDIA A100-SXM-64GB", "NVIDIA PG509-210"}) {
    EXPECT_EQ(match_data_sheet(whole, "10de:20b0"), find_data_sheet("a100-40-sxm")) << whole;
  }
  EXPECT_EQ(find_data_sheet("NVIDIA"), nullptr);
  EXPECT_EQ(find_data_sheet("h101"), nullptr);
  EXPECT_EQ(find_data_sheet(""), nullptr);
}

TEST(DataSheets, TheNearestNameOrAliasIsOffered) {
  EXPECT_EQ(nearest_data_sheet("h101"), "nearest: h100; ");
  EXPECT_EQ(nearest_data_sheet("RTX-4091"), "nearest: rtx-4090; ");
  EXPECT_EQ(nearest_data_sheet("toaster"), "");
  EXPECT_EQ(message_of<UsageError>([] { (void)open_data_sheet("h2000"); }),
            "no data sheet 'h2000'; nearest: h200; allowed: " + data_sheet_names() +
                ", or a data sheet file");
}

TEST(DataSheets, OnlyDevicesOfNvidiaHaveAComputeCapability) {
  nlohmann::json sheet = sheet_json();
  sheet["compute_capability"] = nullptr;
  EXPECT_FALSE(parse_data_sheet(sheet.dump(), "x.json").compute_capability);
  EXPECT_EQ(find_data_sheet("l4")->compute_capability, "8.9");
  EXPECT_FALSE(find_data_sheet("mi300x")->compute_capability);
}

TEST(DataSheets, UsableMemoryStandsBesideTheNominalOne) {
  const MemorySpec& h100 = find_data_sheet("h100-sxm")->memory;
  EXPECT_DOUBLE_EQ(h100.bytes, 80e9);
  ASSERT_TRUE(h100.usable);
  EXPECT_NEAR(h100.usable->bytes, 85.0e9, 0.05e9);
  EXPECT_FALSE(find_data_sheet("tpu-v5e")->memory.usable);
}

TEST(DataSheets, OlderSheetsLackTheUsableMemory) {
  nlohmann::json sheet = sheet_json();
  sheet["memory"].erase("usable_bytes");
  sheet["memory"].erase("usable_source");
  EXPECT_FALSE(parse_data_sheet(sheet.dump(), "x.json").memory.usable);
}

TEST(DataSheets, WhatNoVendorPublishesIsEmpty) {
  const Peak* h20 = find_data_sheet("h20")->best_peak(Format::bf16);
  EXPECT_FALSE(h20->clock_hz);
  EXPECT_FALSE(h20->flops_per_clock_per_sm);
  EXPECT_FALSE(find_data_sheet("tpu-v5e")->tdp_w);
  EXPECT_EQ(find_data_sheet("tpu-v5e")->best_peak(Format::fp32), nullptr);
}

TEST(DataSheets, Fp4HasAPeak) {
  const Peak* const fp4 = find_data_sheet("b200")->best_peak(Format::fp4_e2m1);
  ASSERT_NE(fp4, nullptr);
  EXPECT_DOUBLE_EQ(fp4->flops_per_s, 9000e12);
}

TEST(DataSheets, MatchWholeDeviceNamesOnly) {
  EXPECT_EQ(match_data_sheet("NVIDIA L4", ""), find_data_sheet("l4"));
  EXPECT_EQ(match_data_sheet("NVIDIA L40S", ""), find_data_sheet("l40s"));
  EXPECT_EQ(match_data_sheet("NVIDIA L40", ""), find_data_sheet("l40"));
  EXPECT_EQ(match_data_sheet("NVIDIA L4", "10de:26b5"), find_data_sheet("l4"));
  EXPECT_EQ(match_data_sheet("NVIDIA L20", ""), nullptr);
  EXPECT_EQ(match_data_sheet("NVIDIA A10M", ""), nullptr);
  EXPECT_EQ(match_data_sheet("NVIDIA A10G", ""), find_data_sheet("a10g"));
  EXPECT_EQ(match_data_sheet("NVIDIA H20-3e", ""), find_data_sheet("h20-141"));
  EXPECT_EQ(match_data_sheet("NVIDIA GeForce RTX 4090 Laptop GPU", ""), nullptr);
}

TEST(DataSheets, MatchByPciIdWhereTheNameIsUnknown) {
  EXPECT_EQ(match_data_sheet("Renamed", "10DE:2330"), find_data_sheet("h100-sxm"));
  EXPECT_EQ(match_data_sheet("Renamed", "10de:2348"), find_data_sheet("gh200-144"));
  EXPECT_EQ(match_data_sheet("Renamed", "10de:ffff"), nullptr);
  EXPECT_EQ(match_data_sheet("", ""), nullptr);
}

TEST(DataSheets, ASliceOfADeviceMatchesNone) {
  EXPECT_EQ(match_data_sheet("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "10de:2330"), nullptr);
}

TEST(DataSheets, ConsumerTensorPeakIsTheOneWithFp32Accumulators) {
  EXPECT_DOUBLE_EQ(find_data_sheet("rtx4090")->best_peak(Format::fp16)->flops_per_s, 165.2e12);
  EXPECT_DOUBLE_EQ(find_data_sheet("rtx4090")->best_peak(Format::fp8_e4m3)->flops_per_s, 330.3e12);
}

TEST(DataSheets, BestEngineOfFp32IsFmaAndOfBf16Tensor) {
  EXPECT_EQ(find_data_sheet("h200")->best_peak(Format::fp32)->engine, Engine::fma);
  EXPECT_EQ(find_data_sheet("h200")->best_peak(Format::fp64)->engine, Engine::tensor);
  EXPECT_EQ(find_data_sheet("h200")->best_peak(Format::bf16)->engine, Engine::tensor);
  EXPECT_EQ(find_data_sheet("a100-80-sxm")->best_peak(Format::fp8_e4m3), nullptr);
}

TEST(DataSheets, PinsGiveTheBandwidthThatNothingExceeds) {
  EXPECT_NEAR(find_data_sheet("h100-sxm")->memory.pins->bandwidth_bytes_per_s(), 3.352e12, 1e9);
}

TEST(MalformedSheet, NamesFileAndKeyOfWhatIsMissing) {
  nlohmann::json sheet = sheet_json();
  sheet.erase("sms");
  EXPECT_EQ(sheet_rejection(sheet), "x.json: key sms is missing");
  sheet = sheet_json();
  sheet["peaks"][2].erase("clock_hz");
  EXPECT_EQ(sheet_rejection(sheet), "x.json: peaks[2]: key clock_hz is missing");
}

TEST(MalformedSheet, TextThatIsNoJsonIsRejectedInOneLine) {
  for (const char* text : {"", "{", "[1, 2", "{\"a\": 1e999}", "\xff\xfe"}) {
    const std::string message =
        message_of<UsageError>([&] { (void)parse_data_sheet(text, "x.json"); });
    EXPECT_THAT(message, AllOf(HasSubstr("x.json: "), Not(HasSubstr("\n")))) << text;
  }
  EXPECT_EQ(message_of<UsageError>([] { (void)parse_data_sheet("[]", "x.json"); }),
            "x.json: is an array; allowed: an object");
}

TEST(MalformedSheet, AnotherSchemaIsRefused) {
  EXPECT_THAT(rejection_of("/schema", "ridgebench.device/2"),
              HasSubstr("allowed: ridgebench.device/1"));
}

TEST(MalformedSheet, WrongTypesAreRefused) {
  EXPECT_THAT(rejection_of("/sms", "132"), HasSubstr("sms is \"132\"; allowed: a number"));
  EXPECT_THAT(rejection_of("/aliases", "a"), HasSubstr("array of texts"));
  EXPECT_THAT(rejection_of("/aliases", {1}), HasSubstr("array of texts"));
  EXPECT_THAT(rejection_of("/peaks", 1), HasSubstr("array of objects"));
  EXPECT_THAT(rejection_of("/peaks", {1}), HasSubstr("peaks[0]: is 1"));
  EXPECT_THAT(rejection_of("/title", ""), HasSubstr("not empty"));
  EXPECT_THAT(rejection_of("/memory", nullptr), HasSubstr("memory: is null"));
}

TEST(MalformedSheet, AbsurdValuesAreRefused) {
  EXPECT_THAT(rejection_of("/sms", 0), HasSubstr("sms is 0; allowed: a number from 1"));
  EXPECT_THAT(rejection_of("/sms", 1.5), HasSubstr("whole"));
  EXPECT_THAT(rejection_of("/memory/bytes", -80e9), HasSubstr("memory: bytes"));
  EXPECT_THAT(rejection_of("/memory/bandwidth_bytes_per_s", 3350), HasSubstr("bandwidth"));
  EXPECT_THAT(rejection_of("/memory/usable_bytes", 0), HasSubstr("memory: usable_bytes"));
  EXPECT_THAT(rejection_of("/memory/usable_source", nullptr), HasSubstr("memory: usable_source"));
  EXPECT_THAT(rejection_of("/tdp_w", 0), HasSubstr("tdp_w"));
  EXPECT_THAT(rejection_of("/peaks/0/clock_hz", 1980), HasSubstr("peaks[0]: clock_hz"));
  EXPECT_THAT(rejection_of("/peaks", nlohmann::json::array()), HasSubstr("at least one"));
  EXPECT_THAT(rejection_of("/name", "H100 SXM"), HasSubstr("lower-case"));
}

TEST(MalformedSheet, UnknownFormatAndEngineNameWhatIsAllowed) {
  EXPECT_THAT(rejection_of("/peaks/0/format", "fp80"),
              AllOf(HasSubstr("x.json: peaks[0]: format: "), HasSubstr("bf16")));
  EXPECT_THAT(rejection_of("/peaks/0/format", "fp4"),
              HasSubstr("peaks[0]: format is \"fp4\"; allowed: fp4_e2m1"));
  EXPECT_THAT(rejection_of("/peaks/0/engine", "sfu"), HasSubstr("allowed: fma, tensor"));
}

TEST(MalformedSheet, ASparsePeakContradictsItsClock) {
  nlohmann::json sheet = sheet_json();
  sheet["peaks"][3]["flops_per_s"] = 1979e12;
  sheet["peaks"][3]["doubt"] = nullptr;
  EXPECT_THAT(sheet_rejection(sheet), HasSubstr("peaks[3]: flops_per_s is"));
}

TEST(MalformedSheet, APeakGivenTwiceIsRefused) {
  nlohmann::json sheet = sheet_json();
  sheet["peaks"].push_back(sheet["peaks"][0]);
  EXPECT_THAT(sheet_rejection(sheet), HasSubstr("once"));
}

}  // namespace
}  // namespace ridgebench
