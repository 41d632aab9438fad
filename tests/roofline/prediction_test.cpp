#include "roofline/prediction.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

ordered_json answer(const char* operation, const char* shape, FormatPair format,
                    const Roofs& roofs) {
  const Operation& op = Registry::instance().operation(operation);
  return predict(op, parse_shape(shape, op.dimensions, op.has_layout), format, roofs);
}

Roofs sheet_of(const char* name) { return Roofs(*find_data_sheet(name)); }

double number_of(const ordered_json& answer, const char* key) {
  return answer.at(key).get<double>();
}

// A device of 100 FLOP/s in fp32, 1000 in bf16 and 10 byte/s.
Roofs measured_roofs(std::optional<double> launch_floor_s = {}) {
  Roofs roofs("a device", 1e9, launch_floor_s);
  roofs.add({Resource::fma, Format::fp32, 0, 100, "fma_peak"});
  roofs.add({Resource::tensor, Format::bf16, 0, 1000, "tensor_peak"});
  roofs.add({Resource::memory, Format::fp32, 0.5, 10, "dram_copy"});
  return roofs;
}

TEST(Prediction, CudaCoresLimitElementwiseOperationsAndTensorCoresMatmul) {
  const ordered_json gelu = answer("gelu", "n:1048576", Format::fp8_e4m3, sheet_of("b200"));
  EXPECT_NEAR(number_of(gelu, "ridge_flop_per_byte"), 9.74, 0.005);
  EXPECT_EQ(gelu.at("bound"), "compute");
  const ordered_json matmul = answer("matmul", "4096", Format::bf16, sheet_of("h100"));
  EXPECT_DOUBLE_EQ(number_of(matmul, "peak_flops_per_s"), 989.5e12);
  for (const char* operation : {"relu", "gelu", "dot", "matvec"}) {
    EXPECT_DOUBLE_EQ(
        number_of(answer(operation, "4096", Format::bf16, sheet_of("h100")), "peak_flops_per_s"),
        67e12);
  }
}

TEST(Prediction, AFormatWithoutAPeakHasAMemoryTime) {
  const ordered_json relu = answer("relu", "n:1M", Format::fp8_e4m3, sheet_of("a100"));
  EXPECT_EQ(relu.at("bound"), "memory");
  EXPECT_DOUBLE_EQ(number_of(relu, "time_lower_bound_s"),
                   2e6 / number_of(relu, "bandwidth_bytes_per_s"));
  EXPECT_TRUE(relu.at("mfu_bound").is_null()) << "the sheet promises no fp8";
  EXPECT_THAT([] { (void)answer("matmul", "64", Format::fp8_e4m3, sheet_of("a100")); },
              ThrowsMessage<UsageError>(HasSubstr("has no peak for fp8_e4m3; it has: fp32")));
}

TEST(Prediction, EverySheetAnswersOrSaysWhichFormatsItHas) {
  for (const DeviceSpec& sheet : data_sheets()) {
    const Roofs roofs(sheet);
    for (const FormatInfo& f : kFormats) {
      if (f.format == Format::fp64 || f.format == Format::int8) continue;  // no operation
      if (f.format != Format::tf32 && f.format != Format::tf32x3) {
        const double time_s =
            number_of(answer("relu", "n:1M", f.format, roofs), "time_lower_bound_s");
        EXPECT_TRUE(std::isfinite(time_s) && time_s > 0) << sheet.name << f.name;
      }
      if (sheet.best_peak(f.format) != nullptr) {
        const ordered_json matmul = answer("matmul", "4096", f.format, roofs);
        EXPECT_DOUBLE_EQ(number_of(matmul, "mfu_bound"), 1) << sheet.name << f.name;
      } else {
        EXPECT_THAT([&] { (void)answer("matmul", "4096", f.format, roofs); },
                    ThrowsMessage<UsageError>(HasSubstr("it has: ")));
      }
    }
  }
}

TEST(Prediction, WithoutAnyPeakTheMemoryAloneDecidesAndANoteSaysSo) {
  Roofs roofs("a device");
  roofs.add({Resource::memory, Format::fp32, 0.5, 10, "dram_copy"});
  const ordered_json relu = answer("relu", "n:10", Format::bf16, roofs);
  for (const char* key : {"peak_flops_per_s", "ridge_flop_per_byte", "mfu_bound", "peak_from"}) {
    EXPECT_TRUE(relu.at(key).is_null()) << key;
  }
  EXPECT_EQ(relu.at("bound"), "memory");
  EXPECT_DOUBLE_EQ(number_of(relu, "attainable_flops_per_s"), 2.5);
  EXPECT_DOUBLE_EQ(number_of(relu, "time_lower_bound_s"), 4);
  EXPECT_DOUBLE_EQ(number_of(relu, "time_without_overlap_s"), 4);
  EXPECT_THAT(relu.at("notes").at(0).get<std::string>(), HasSubstr("counts memory alone"));
}

TEST(Prediction, AnMfuIsAShareOfTheDataSheetsPeakOfTheFormat) {
  EXPECT_TRUE(answer("relu", "n:10", Format::bf16, measured_roofs()).at("mfu_bound").is_null());
  const ordered_json relu = answer("relu", "n:1M", Format::bf16, sheet_of("h100"));
  EXPECT_DOUBLE_EQ(number_of(relu, "mfu_bound"), 0.25 * 3.35e12 / 989.5e12);
  Roofs roofs = measured_roofs();
  roofs.promise(*find_data_sheet("h100"));
  EXPECT_DOUBLE_EQ(number_of(answer("matmul", "4k", Format::bf16, roofs), "mfu_bound"),
                   1000 / 989.5e12);
}

TEST(Prediction, NoTimeIsBelowTheLaunchFloor) {
  const ordered_json small = answer("relu", "n:1", Format::bf16, measured_roofs(0.5));
  EXPECT_DOUBLE_EQ(number_of(small, "time_lower_bound_s"), 0.5);
  EXPECT_DOUBLE_EQ(number_of(small, "time_without_overlap_s"), 0.5);
  EXPECT_EQ(small.at("bound"), "launch");
  EXPECT_THAT(small.at("notes").at(0).get<std::string>(), HasSubstr("at least 500 ms"));
  const ordered_json large = answer("relu", "n:1000", Format::bf16, measured_roofs(0.5));
  EXPECT_EQ(large.at("bound"), "memory");
  EXPECT_THAT(large.at("notes"), IsEmpty());
}

TEST(Prediction, SpecialFunctionsLimitWhatTheyLimitInARun) {
  Roofs roofs = measured_roofs();
  roofs.add({Resource::sfu, Format::fp32, 0, 0.5, "sfu_tanh"});
  const ordered_json gelu = answer("gelu", "n:10", Format::bf16, roofs);
  EXPECT_EQ(gelu.at("bound"), "special");
  EXPECT_DOUBLE_EQ(number_of(gelu, "time_lower_bound_s"), 20);
  EXPECT_EQ(answer("relu", "n:10", Format::bf16, roofs).at("bound"), "memory");
}

TEST(Prediction, NamesTheRowsThatItsRatesComeFrom) {
  const ordered_json matmul = answer("matmul", "64", Format::bf16, measured_roofs());
  EXPECT_EQ(matmul.at("peak_from"), "tensor_peak");
  EXPECT_EQ(matmul.at("bandwidth_from"), "dram_copy");
}

}  // namespace
}  // namespace ridgebench
