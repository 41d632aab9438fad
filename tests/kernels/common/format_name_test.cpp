#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "kernels/common/error.hpp"
#include "kernels/common/format.hpp"

namespace ridgebench {
namespace {

TEST(FormatName, EveryNameParsesToItself) {
  for (const FormatInfo& f : kFormats) {
    EXPECT_EQ(parse_format(f.name), f.format);
    EXPECT_EQ(parse_format_pair(f.name), FormatPair(f.format));
    EXPECT_EQ(FormatPair(f.format).name(), f.name);
  }
  EXPECT_EQ(parse_format("fp8"), Format::fp8_e4m3);
  const FormatPair mixed(Format::fp8_e4m3, Format::fp8_e5m2);
  EXPECT_EQ(mixed.name(), "fp8_e4m3xfp8_e5m2");
  EXPECT_EQ(parse_format_pair(mixed.name()), mixed);
}

std::string format_refusal(std::string_view name) {
  try {
    (void)parse_format_pair(name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(FormatName, RefusalsListWhatIsAllowed) {
  const std::string allowed =
      "; allowed: fp32, tf32, fp16, bf16, fp8_e4m3, fp8_e5m2, tf32x3, fp64, int8, fp8 (= "
      "fp8_e4m3)";
  EXPECT_EQ(format_refusal("fp80"), "unknown format 'fp80'" + allowed);
  EXPECT_EQ(format_refusal(""), "unknown format ''" + allowed);
  EXPECT_EQ(format_refusal("bf16xint4"), "unknown format 'int4'" + allowed);
  EXPECT_EQ(format_refusal("mxfp4"), "unknown format 'mxfp4'" + allowed);
  EXPECT_EQ(format_refusal("fp4"), "unknown format 'fp4' (fp4 is not supported here)" + allowed);
}

TEST(FormatName, OperationsMayHaveFp4) {
  for (const char* const name : {"fp4_e2m1", "fp4", "nvfp4"}) {
    EXPECT_EQ(parse_measured_format(name), FormatPair(Format::fp4_e2m1));
  }
  EXPECT_EQ(parse_measured_format("fp8"), FormatPair(Format::fp8_e4m3));
  EXPECT_THROW((void)parse_measured_format("mxfp4"), UsageError);
}

TEST(FormatName, ProductsOfFp8AreInBf16) {
  EXPECT_EQ(product_format(Format::fp4_e2m1), Format::bf16);
  EXPECT_EQ(product_format(Format::fp8_e5m2), Format::bf16);
  EXPECT_EQ(product_format({Format::fp8_e4m3, Format::fp8_e5m2}), Format::bf16);
  EXPECT_EQ(product_format(Format::fp16), Format::fp16);
  EXPECT_EQ(product_format(Format::tf32), Format::tf32);
}

}  // namespace
}  // namespace ridgebench
