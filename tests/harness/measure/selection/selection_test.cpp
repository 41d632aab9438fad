#include "harness/measure/selection/selection.hpp"

#include <gmock/gmock.h>

#include "harness/device/cpu/device.hpp"
#include "harness/measure/case.hpp"
#include "harness/measure/selection/shapes_file.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;
using testing::ThrowsMessage;

class SelectionTest : public RegistryTest {
 protected:
  static Selection select(const CaseNames& names) { return {names, Registry::instance()}; }
  static const Operation& matmul() { return Registry::instance().operation("matmul"); }
  static const Operation& relu() { return Registry::instance().operation("relu"); }
  static auto refuses(const CaseNames& names, const auto& message) {
    EXPECT_THAT([&] { select(names); }, ThrowsMessage<UsageError>(message));
  }
};

Shape square(std::int64_t n) { return Shape({{"m", n}, {"n", n}, {"k", n}}, Layout::nt); }

TEST_F(SelectionTest, NothingNamedIsEverything) {
  const Selection all;
  EXPECT_TRUE(all.has(relu()) && all.has_technique("anything") && all.has_format(Format::bf16));
  EXPECT_EQ(all.shapes(relu(), Format::fp32), std::nullopt);
}

TEST_F(SelectionTest, NamedAreOperationsAndThoseOfShapes) {
  EXPECT_TRUE(select({.operations = {"relu"}}).names(relu()));
  EXPECT_TRUE(select({.shapes = {"relu 5"}}).names(relu()));
  EXPECT_FALSE(select({.operations = {"relu"}}).names(matmul()));
  EXPECT_FALSE(select({.formats = {"bf16"}}).names(relu()));
  EXPECT_FALSE(Selection().names(relu()));
}

TEST_F(SelectionTest, ShapesAreThoseOfTheLines) {
  const Selection some = select({.shapes = {"matmul 1..4:x2 bf16", "matmul,3", "matmul 4"}});
  EXPECT_FALSE(some.has(relu()));
  EXPECT_THAT(some.shapes(matmul(), Format::bf16),
              Optional(ElementsAre(square(1), square(2), square(4), square(3))));
  EXPECT_THAT(some.shapes(matmul(), Format::fp32), Optional(ElementsAre(square(3), square(4))));
}

TEST_F(SelectionTest, ShapesOfOperationsThatAreNotNamedAreLeftOut) {
  const Selection some = select({.operations = {"relu"}, .shapes = {"matmul 4", "relu 5"}});
  EXPECT_FALSE(some.has(matmul()));
  EXPECT_TRUE(some.has(relu()));
}

TEST_F(SelectionTest, CasesAreTheNamedOnes) {
  CpuDevice device;
  const Selection some = select({.operations = {"matmul"},
                                 .techniques = {"packed"},
                                 .formats = {"fp32"},
                                 .shapes = {"matmul m:17/n:333/k:1000"}});
  std::vector<std::string> ids;
  for (const Case& c : enumerate_cases(Registry::instance(), device, Profile::quick, {}, some)) {
    if (!c.is_ceiling()) ids.push_back(c.id());
  }
  EXPECT_THAT(ids, ElementsAre("matmul/packed/fp32/m:17/n:333/k:1000/layout:nt/steady@cpu"));
}

TEST_F(SelectionTest, ANaiveTechniqueGetsSizesThatItFinishes) {
  CpuDevice device;
  const Selection some =
      select({.techniques = {"naive"}, .formats = {"fp32"}, .shapes = {"matmul 64,20000"}});
  std::vector<std::optional<std::string>> reasons;
  for (const Case& c : enumerate_cases(Registry::instance(), device, Profile::quick, {}, some)) {
    if (!c.is_ceiling()) reasons.push_back(unsupported_reason(c));
  }
  EXPECT_THAT(reasons, ElementsAre(std::nullopt,
                                   Optional(AllOf(HasSubstr("naive takes too long for 16 TFLOP"),
                                                  HasSubstr("allowed: up to ")))));
}

TEST_F(SelectionTest, UnknownNamesAreRefusedWithTheNearest) {
  refuses({.operations = {"matmull"}}, HasSubstr("matmul"));
  refuses({.techniques = {"pakced"}}, HasSubstr("nearest: packed"));
  refuses({.operations = {"relu"}, .techniques = {"packed"}},
          HasSubstr("unknown technique 'packed'"));
  refuses({.formats = {"fp7"}}, HasSubstr("fp7"));
  refuses({.operations = {"relu"}, .formats = {"tf32"}},
          HasSubstr("relu has no format tf32; allowed: fp32, fp16"));
  refuses({.shapes = {"relu 4 tf32"}}, HasSubstr("relu has no format tf32"));
  refuses({.operations = {"matmul"}, .formats = {"int8"}},
          AllOf(HasSubstr("matmul has no format int8; allowed: fp32"), Not(HasSubstr("fp64"))));
  refuses({.operations = {"matmul"}, .formats = {"mxfp4"}},
          AllOf(HasSubstr("matmul has no format mxfp4"), Not(HasSubstr("fp64"))));
  refuses({.formats = {"fp64"}},
          AllOf(HasSubstr("the operations have no format fp64"), HasSubstr("fp8_e4m3xfp8_e5m2")));
}

TEST_F(SelectionTest, WhatIsNoDimensionIsRefusedWithTheReason) {
  refuses({.shapes = {"matmul m:1/n:2/k:3/batch:4"}},
          AllOf(HasSubstr("unknown dimension 'batch'"),
                HasSubstr("m, n, k, b, lda, ldb, ldc, layout"), HasSubstr("a batch of 8 is b:8")));
  refuses({.shapes = {"matmul m:1/n:2/k:3/lda:2"}}, HasSubstr("less than a line of 3 elements"));
  refuses({.shapes = {"matmul_gelu m:1/n:2/k:3/b:4"}}, HasSubstr("without a batch"));
  refuses({.shapes = {"matmul_gelu m:1/n:2/k:3/lda:4"}}, HasSubstr("no leading dimension"));
}

TEST(ShapeLine, BlanksOrCommasSeparateTheFields) {
  for (const char* text : {"matmul m:1,2/n:3 bf16", "  matmul\tm:1,2/n:3   bf16 \r",
                           "matmul,\"m:1,2/n:3\",bf16", "matmul , \" m:1,2/n:3 \" , bf16"}) {
    EXPECT_EQ(parse_shape_line(text).text(), "matmul m:1,2/n:3 bf16") << text;
  }
  EXPECT_EQ(parse_shape_line("relu 4k").text(), "relu 4k");
  EXPECT_EQ(parse_shape_line("relu,4k,").text(), "relu 4k");
}

TEST(ShapeLine, OtherLinesAreRefused) {
  for (const char* text :
       {"", "relu", "relu,", ",4", "relu 4 bf16 x", "relu,4,bf16,x", "relu,\"4", "relu,\"4\"x",
        // Fields of CSV that would not be the same ones as text.
        "relu,4 bf16", "relu,4,b f16", "\"re lu\",4", "\"relu,\",4", "relu,\",4\""}) {
    EXPECT_THROW(parse_shape_line(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace ridgebench
