#include "roofline/roofs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/common/error.hpp"
#include "roofline/embedded_sheets.hpp"
#include "tests/roofline/results_directory.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::engine_ceiling;
using ::testing::HasSubstr;
using testing::memory_ceiling;
using testing::message_of;
using testing::ResultsDirectory;
using testing::row;
using testing::Rows;

std::string rejection(const std::string& device) {
  return message_of<UsageError>([&] { (void)open_roof_source(device); });
}

TEST(RoofSource, ADataSheetGivesOneBandwidthForAllTraffic) {
  const auto source = open_roof_source("h200");
  EXPECT_EQ(source->name(), "h200");
  EXPECT_DOUBLE_EQ(source->bandwidth(0).per_s, 4.8e12);
  EXPECT_DOUBLE_EQ(source->bandwidth(1).per_s, 4.8e12);
  EXPECT_DOUBLE_EQ(*source->memory_bytes(), 141e9);
}

TEST(RoofSource, AnAbsentFormatNamesThoseThatExist) {
  const auto a100 = open_roof_source("a100-80-sxm");
  EXPECT_EQ(message_of<UsageError>([&] { (void)a100->peak(Format::fp8_e4m3); }),
            "a100-80-sxm has no peak for fp8_e4m3; it has: fp32, tf32, fp16, bf16, tf32x3");
}

TEST(RoofSource, AMixedPairHasThePeakOfItsSlowerFormat) {
  const auto source = open_roof_source("h100-sxm");
  EXPECT_DOUBLE_EQ(roof(*source, {Format::bf16, Format::fp8_e4m3}, 0).peak_flops_per_s, 989.5e12);
  EXPECT_DOUBLE_EQ(roof(*source, {Format::fp8_e4m3, Format::fp8_e5m2}, 0).peak_flops_per_s,
                   1979e12);
}

TEST(RoofSource, AnUnknownDeviceListsWhatIsAllowed) {
  EXPECT_THAT(rejection("h300"), AllOf(HasSubstr("unknown device 'h300'"), HasSubstr("h100-sxm"),
                                       HasSubstr("results directory")));
  EXPECT_THAT(rejection(""), HasSubstr("unknown device ''"));
}

TEST(RoofSource, ADataSheetFileServesAsADevice) {
  const ResultsDirectory directory(Rows{});
  json sheet = json::parse(embedded_sheets().front().text);
  sheet["name"] = "mine";
  directory.write("mine.json", sheet.dump());
  EXPECT_EQ(open_roof_source((directory.path() / "mine.json").string())->name(), "mine");
}

TEST(RoofSource, AResultsDirectoryGivesTheRoofOfTheTrafficMix) {
  const ResultsDirectory directory(Rows{memory_ceiling("read", 0, 40e9),
                                        memory_ceiling("copy", 0.5, 30e9),
                                        engine_ceiling("fma", "fma", "fp32", 490e9)});
  const auto source = open_roof_source(directory.path().string());
  EXPECT_EQ(source->name(), "Test host in " + directory.path().string());
  EXPECT_EQ(source->peak(Format::fp32).origin, "fma");
  EXPECT_DOUBLE_EQ(roof(*source, Format::fp32, 0.5).bandwidth_bytes_per_s, 30e9);
  EXPECT_DOUBLE_EQ(roof(*source, Format::fp32, 0).ridge(), 490.0 / 40);
  EXPECT_DOUBLE_EQ(*source->memory_bytes(), 16e9);
}

TEST(RoofSource, AStorageFormatHasThePeakOfItsArithmetic) {
  const ResultsDirectory directory(Rows{engine_ceiling("fma", "fma", "fp32", 490e9),
                                        row("k", {{"format", "fp16"}, {"arithmetic", "fp32"}})});
  const auto source = open_roof_source(directory.path().string());
  EXPECT_EQ(source->peak(Format::fp16).origin, "fma");
  EXPECT_THAT(message_of<UsageError>([&] { (void)source->peak(Format::bf16); }),
              HasSubstr("has no peak for bf16; it has: fp32"));
  EXPECT_THAT(message_of<UsageError>([&] { (void)source->bandwidth(0); }),
              HasSubstr("no memory ceiling"));
}

TEST(RoofSource, ADirectoryOfSeveralDevicesAsksWhichOne) {
  json on_gpu = engine_ceiling("gpu", "fma", "fp32", 60e12);
  on_gpu["device"] = "cuda:0";
  const json devices{{{"name", "cpu"}, {"model", "Host"}, {"memory_bytes", nullptr}},
                     {{"name", "cuda:0"}, {"model", "GPU"}, {"memory_bytes", nullptr}}};
  const ResultsDirectory directory(Rows{engine_ceiling("host", "fma", "fp32", 490e9), on_gpu},
                                   devices);
  const std::string path = directory.path().string();
  EXPECT_THAT(rejection(path), HasSubstr("allowed: " + path + "@cpu, " + path + "@cuda:0"));
  EXPECT_EQ(open_roof_source(path + "@cuda:0")->peak(Format::fp32).origin, "gpu");
  EXPECT_THAT(rejection(path + "@cuda:7"), HasSubstr("no ceiling with status ok of device cuda:7"));
  EXPECT_FALSE(open_roof_source(path + "@cpu")->memory_bytes());
}

TEST(RoofSource, ADirectoryWithoutCeilingsIsNoDevice) {
  const ResultsDirectory directory(Rows{});
  EXPECT_THAT(rejection(directory.path().string()), HasSubstr("holds no ceiling"));
}

}  // namespace
}  // namespace ridgebench
