#include "roofline/roofs.hpp"

#include <gmock/gmock.h>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Roofs roofs_of(const std::vector<Rate>& rates) {
  Roofs roofs("this device");
  for (const Rate& rate : rates) roofs.add(rate);
  return roofs;
}

Rate memory(const std::string& id, double written_fraction, double per_s) {
  return {Resource::memory, Format::fp32, written_fraction, per_s, id};
}

Rate engine(const std::string& id, Resource resource, Format format, double per_s) {
  return {resource, format, 0, per_s, id};
}

Roofs sheet(const char* name) { return Roofs(*find_data_sheet(name)); }

TEST(Roofs, MemoryRoofHasTheNearestWrittenFraction) {
  const Roofs roofs = roofs_of({memory("read", 0, 40), memory("copy", 0.5, 30),
                                memory("triad", 1.0 / 3, 35), memory("write", 1, 20)});
  EXPECT_EQ(roofs.memory_roof(0)->origin, "read");
  EXPECT_EQ(roofs.memory_roof(0.01)->origin, "read");
  EXPECT_EQ(roofs.memory_roof(1.0 / 3)->origin, "triad");
  EXPECT_EQ(roofs.memory_roof(0.5)->origin, "copy");
  EXPECT_EQ(roofs.memory_roof(0.9)->origin, "write");
}

TEST(Roofs, OfTwoEquallyNearTheSlowerJudges) {
  EXPECT_EQ(roofs_of({memory("read", 0, 40), memory("copy", 0.5, 30)}).memory_roof(0.25)->origin,
            "copy");
  EXPECT_EQ(roofs_of({memory("read", 0, 30), memory("copy", 0.5, 40)}).memory_roof(0.25)->origin,
            "read");
}

TEST(Roofs, OfSeveralOfOneKindTheFastestIsTheRoof) {
  const Roofs roofs = roofs_of({memory("a", 0.5, 30), memory("b", 0.5, 31), memory("c", 0.5, 29),
                                engine("d", Resource::fma, Format::fp32, 5),
                                engine("e", Resource::fma, Format::fp32, 6)});
  EXPECT_EQ(roofs.memory_roof(0.5)->origin, "b");
  EXPECT_EQ(roofs.engine_roof(Engine::fma, Format::fp32)->origin, "e");
}

TEST(Roofs, TheSlowestSpecialFunctionIsTheRoof) {
  const Roofs roofs = roofs_of({engine("exp", Resource::sfu, Format::fp32, 6),
                                engine("tanh", Resource::sfu, Format::fp32, 5),
                                engine("rsqrt", Resource::sfu, Format::fp32, 7)});
  EXPECT_EQ(roofs.special_roof()->origin, "tanh");
}

TEST(Roofs, AConversionHasADirectionAndAFormat) {
  const Roofs roofs = roofs_of({engine("to", Resource::narrow, Format::fp8_e4m3, 6),
                                engine("slower", Resource::narrow, Format::fp8_e4m3, 5),
                                engine("from", Resource::widen, Format::fp8_e4m3, 7)});
  EXPECT_EQ(roofs.conversion_roof(Resource::narrow, Format::fp8_e4m3)->origin, "to");
  EXPECT_EQ(roofs.conversion_roof(Resource::widen, Format::fp8_e4m3)->origin, "from");
  EXPECT_FALSE(roofs.conversion_roof(Resource::widen, Format::fp16));
  EXPECT_FALSE(roofs.special_roof());
}

TEST(Roofs, EngineRoofsAreKeptByEngineAndFormat) {
  const Roofs roofs = roofs_of({engine("a", Resource::fma, Format::bf16, 1e9),
                                engine("b", Resource::tensor, Format::bf16, 8e9)});
  EXPECT_EQ(roofs.engine_roof(Engine::fma, Format::bf16)->per_s, 1e9);
  EXPECT_EQ(roofs.best_engine_roof(Format::bf16)->origin, "b");
  EXPECT_FALSE(roofs.engine_roof(Engine::tensor, Format::fp16));
  EXPECT_THAT([&] { (void)roofs.peak(Format::fp16); },
              ThrowsMessage<UsageError>("this device has no peak for fp16; it has: bf16"));
}

TEST(Roofs, ThreeProductsOfTf32AreOneOfTf32x3) {
  const Roofs roofs = roofs_of({engine("a", Resource::tensor, Format::tf32, 6e9)});
  EXPECT_EQ(roofs.engine_roof(Engine::tensor, Format::tf32x3)->per_s, 2e9);
  EXPECT_FALSE(roofs.engine_roof(Engine::fma, Format::tf32x3));
}

TEST(Roofs, WithoutRatesThereAreNone) {
  const Roofs roofs = roofs_of({});
  EXPECT_TRUE(roofs.empty());
  EXPECT_FALSE(roofs.memory_roof(0.5));
  EXPECT_FALSE(roofs.best_engine_roof(Format::fp32));
  EXPECT_THAT([&] { (void)roofs.bandwidth(0); },
              ThrowsMessage<UsageError>(HasSubstr("no memory ceiling")));
}

TEST(Roofs, ADataSheetGivesOneBandwidthForAllTraffic) {
  const Roofs h200 = sheet("h200");
  EXPECT_EQ(h200.name(), "h200");
  EXPECT_DOUBLE_EQ(h200.bandwidth(0).per_s, 4.8e12);
  EXPECT_DOUBLE_EQ(h200.bandwidth(1).per_s, 4.8e12);
  EXPECT_DOUBLE_EQ(*h200.memory_bytes(), 141e9);
  EXPECT_DOUBLE_EQ(*h200.usable_memory_bytes(), 150109880320);
  EXPECT_FALSE(sheet("tpu-v5e").usable_memory_bytes());
}

TEST(Roofs, ADriverReportsWhatIsUsable) {
  EXPECT_DOUBLE_EQ(*Roofs("a run", 85e9).usable_memory_bytes(), 85e9);
}

TEST(Roofs, EverySheetGivesThePeaksOfItsBestEngines) {
  for (const DeviceSpec& spec : data_sheets()) {
    const Roofs roofs(spec);
    for (const FormatInfo& f : kFormats) {
      const Peak* best = spec.best_peak(f.format);
      const auto rate = roofs.best_engine_roof(f.format);
      ASSERT_EQ(rate.has_value(), best != nullptr) << spec.name << f.name;
      EXPECT_DOUBLE_EQ(rate ? rate->per_s : 0, best != nullptr ? best->flops_per_s : 0) << f.name;
    }
  }
}

TEST(Roofs, AnAbsentFormatNamesThoseThatExist) {
  EXPECT_THAT(
      [] { (void)sheet("a100-80-sxm").peak(Format::fp8_e4m3); },
      ThrowsMessage<UsageError>(
          "a100-80-sxm has no peak for fp8_e4m3; it has: fp32, tf32, fp16, bf16, tf32x3, fp64, "
          "int8"));
}

TEST(Roofs, AMixedPairHasThePeakOfItsSlowerFormat) {
  const auto peak = [](FormatPair format) { return sheet("h100-sxm").peak(format).per_s; };
  EXPECT_DOUBLE_EQ(peak({Format::bf16, Format::fp8_e4m3}), 989.5e12);
  EXPECT_DOUBLE_EQ(peak({Format::fp8_e4m3, Format::fp8_e5m2}), 1979e12);
}

TEST(OneRule, CudaCoresComputeInFp32WhateverIsStored) {
  const Roofs b200 = sheet("b200");
  for (const Format format : {Format::fp32, Format::bf16, Format::fp8_e4m3}) {
    const LimitingRates rates = limiting_rates(b200, Engine::fma, format, 0.5);
    EXPECT_DOUBLE_EQ(rates.peak->per_s, 75e12);
    EXPECT_NEAR(rates.roof().ridge(), 9.74, 0.005);
  }
  EXPECT_DOUBLE_EQ(sheet("a100-80-sxm").arithmetic_roof(Engine::fma, Format::fp8_e4m3)->per_s,
                   19.5e12);
}

TEST(OneRule, TensorEnginesComputeInTheStorageFormat) {
  const Roofs b200 = sheet("b200");
  EXPECT_DOUBLE_EQ(b200.arithmetic_roof(Engine::tensor, Format::bf16)->per_s, 2250e12);
  EXPECT_DOUBLE_EQ(b200.arithmetic_roof(Engine::tensor, Format::fp32)->per_s, 75e12);
  EXPECT_FALSE(sheet("a100-80-sxm").arithmetic_roof(Engine::tensor, Format::fp8_e4m3));
}

TEST(OneRule, WithoutAPeakOnlyAMatmulIsRefused) {
  const Roofs roofs = roofs_of({memory("copy", 0.5, 30)});
  const LimitingRates rates = limiting_rates(roofs, Engine::fma, Format::bf16, 0.5);
  EXPECT_FALSE(rates.peak);
  EXPECT_DOUBLE_EQ(time_lower_bound_s({.flops = 1, .bytes = 60}, rates.roof()), 2);
  EXPECT_THAT([&] { (void)limiting_rates(roofs, Engine::tensor, Format::bf16, 0.5); },
              ThrowsMessage<UsageError>("this device has no peak for bf16; it has: none"));
}

TEST(Promise, IsTheDensePeakOfTheFormatsBestEngine) {
  EXPECT_DOUBLE_EQ(sheet("h200").promised_peak(Format::bf16)->per_s, 989.5e12);
  EXPECT_EQ(sheet("h200").data_sheet(), "h200");
  EXPECT_FALSE(sheet("a100-80-sxm").promised_peak(Format::fp8_e4m3));
  Roofs measured = roofs_of({engine("ceiling", Resource::tensor, Format::bf16, 8e14)});
  EXPECT_FALSE(measured.promised_peak(Format::bf16));
  measured.promise(*find_data_sheet("h200"));
  EXPECT_DOUBLE_EQ(measured.promised_peak(Format::bf16)->per_s, 989.5e12);
  EXPECT_DOUBLE_EQ(measured.peak(Format::bf16).per_s, 8e14);
}

}  // namespace
}  // namespace ridgebench
