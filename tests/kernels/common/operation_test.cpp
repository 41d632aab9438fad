// What the harness derives from the specifications, against the lecture's table of operations.
#include "kernels/common/operation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "kernels/common/registry.hpp"
#include "kernels/dot/dot.hpp"
#include "kernels/gelu/gelu.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/matvec/matvec.hpp"
#include "kernels/relu/relu.hpp"

namespace ridgebench {
namespace {

struct Case {
  const Operation& operation;
  Shape shape;
  FormatPair format;

  Case(std::string_view name, std::string_view text, FormatPair f = Format::bf16)
      : operation(Registry::instance().operation(name)),
        shape(parse_shape(text, operation.dimensions, operation.has_layout)),
        format(f) {}

  [[nodiscard]] double flops() const { return operation.flops(shape); }
  [[nodiscard]] double bytes() const { return ridgebench::bytes(operation, shape, format); }
  [[nodiscard]] double intensity() const { return flops() / bytes(); }
  [[nodiscard]] double written() const { return written_fraction(operation, shape, format); }
};

TEST(LectureOperations, ReluHasIntensityOneQuarter) {
  const Case relu("relu", "n:1048576");
  EXPECT_EQ(relu.flops(), 1048576);
  EXPECT_EQ(relu.bytes(), 4 * 1048576);
  EXPECT_EQ(relu.intensity(), 0.25);
  EXPECT_EQ(relu.written(), 0.5);
}

TEST(LectureOperations, GeluHasIntensityFive) {
  const Case gelu("gelu", "n:1048576");
  EXPECT_EQ(gelu.flops(), 20 * 1048576);
  EXPECT_EQ(gelu.intensity(), 5);
  EXPECT_EQ(gelu.operation.special(gelu.shape), 1048576);
  EXPECT_EQ(gelu.bytes(), Case("relu", "n:1048576").bytes());
}

TEST(LectureOperations, DotApproachesOneHalf) {
  const Case dot("dot", "n:1048576");
  EXPECT_EQ(dot.flops(), 2 * 1048576);
  EXPECT_EQ(dot.bytes(), 2 * 2 * 1048576 + 4);  // the sum is one fp32
  EXPECT_NEAR(dot.intensity(), 0.5, 1e-6);
  EXPECT_NEAR(dot.written(), 0, 1e-6);
}

TEST(LectureOperations, MatvecApproachesOne) {
  const Case matvec("matvec", "n:4096");
  EXPECT_EQ(matvec.flops(), 2.0 * 4096 * 4096);
  EXPECT_EQ(matvec.bytes(), 2.0 * (4096.0 * 4096 + 2 * 4096));
  EXPECT_NEAR(matvec.intensity(), 1, 1e-3);
  EXPECT_NEAR(matvec.written(), 1.0 / 4098, 1e-12);
}

TEST(LectureOperations, SquareMatmulHasIntensityOneThirdOfItsSide) {
  const Case matmul("matmul", "n:1024");
  EXPECT_EQ(matmul.flops(), 2.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(matmul.bytes(), 3.0 * 2 * 1024 * 1024);
  EXPECT_NEAR(matmul.intensity(), 341.3, 0.05);
  EXPECT_NEAR(matmul.written(), 1.0 / 3, 1e-12);
}

TEST(LectureOperations, GeneralMatmul) {
  // Y[B,K] = X[B,D] W[D,K]: 2BDK FLOPs, s(BD + DK + BK) bytes, in every layout.
  for (const std::string_view layout : {"nt", "nn", "tn"}) {
    const Case matmul("matmul", std::string("m:48/n:80/k:112/layout:").append(layout));
    EXPECT_EQ(matmul.flops(), 2 * 48 * 112 * 80);
    EXPECT_EQ(matmul.bytes(), 2 * (48 * 112 + 112 * 80 + 48 * 80));
  }
}

TEST(LectureOperations, Fp8MatmulWithBf16OutHasIntensityHalfItsSide) {
  for (const FormatPair f : {FormatPair(Format::fp8_e4m3), FormatPair(Format::fp8_e5m2),
                             FormatPair(Format::fp8_e4m3, Format::fp8_e5m2)}) {
    const Case matmul("matmul", "n:1024", f);
    EXPECT_EQ(matmul.bytes(), 4.0 * 1024 * 1024) << f.name();
    EXPECT_EQ(matmul.intensity(), 512) << f.name();
    EXPECT_EQ(matmul.written(), 0.5) << f.name();
  }
}

TEST(LectureOperations, FusedMatmulAddsTwentyOneFlopsAnOutput) {
  const Case fused("matmul_gelu", "m:64/n:32/k:16");
  EXPECT_EQ(fused.flops(), 2 * 64 * 32 * 16 + 21 * 64 * 32);
  EXPECT_EQ(fused.bytes(), 2 * (64 * 16 + 16 * 32 + 32 + 64 * 32));
  EXPECT_EQ(fused.operation.special(fused.shape), 64 * 32);
}

TEST(LectureOperations, HalfTheBytesDoubleTheIntensity) {
  EXPECT_EQ(Case("relu", "n:4096", Format::fp32).intensity(), 0.125);
  EXPECT_EQ(Case("relu", "n:4096", Format::fp16).intensity(), 0.25);
  EXPECT_EQ(Case("relu", "n:4096", Format::fp8_e4m3).intensity(), 0.5);
  // tf32 is stored as fp32.
  EXPECT_EQ(Case("matmul", "n:64", Format::tf32).bytes(),
            Case("matmul", "n:64", Format::fp32).bytes());
}

TEST(Operation, StatedTrafficReplacesTheOperands) {
  Operation passes = Registry::instance().operation("relu");
  const Shape shape({{"n", 100}});
  passes.traffic = [](const Shape& s, FormatPair) { return 7.0 * static_cast<double>(s["n"]); };
  EXPECT_EQ(bytes(passes, shape, Format::fp32), 700);
  EXPECT_EQ(written_fraction(passes, shape, Format::fp32), 0.5);
}

// An operation of a step may have further outputs, and may update operands in place.
TEST(Operation, EveryOneWritesItsLastOperand) {
  for (const auto& operation : Registry::instance().operations()) {
    SCOPED_TRACE(operation->name);
    std::vector<Shape::Dimension> dimensions;
    for (const std::string_view name : operation->dimensions) dimensions.emplace_back(name, 2);
    const Shape shape(dimensions, std::nullopt, operation->attributes);
    for (const FormatPair format : operation->formats) {
      const std::vector<Operand> operands = operation->operands(shape, format);
      ASSERT_LE(operands.size(), kMaxOperands);
      EXPECT_TRUE(operands.back().is_output());
      if (operation->of_step) continue;
      for (const Operand& operand : operands) {
        EXPECT_EQ(operand.access == Access::written, &operand == &operands.back()) << operand.name;
      }
    }
  }
}

TEST(Operation, OutputsOfOneLengthHaveTheSameRows) {
  Operation two = Registry::instance().operation("relu");
  two.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a},
            {"y", s["n"], f.a, Access::written},
            {"z", s["n"], f.a, Access::written}};
  };
  for (const std::int64_t n : {1, 256, 1000, 4099}) {
    const auto outputs = outputs_of(two, Shape({{"n", n}}), Format::fp32);
    ASSERT_EQ(outputs.size(), 2U);
    EXPECT_EQ(outputs[1].row_length, outputs[0].row_length) << n;
  }
}

// The bits of -1.5 and 2 as each format stores them.
TEST(View, ReadsEveryFormat) {
  const std::array<float, 2> fp32{-1.5F, 2};
  const std::array<std::uint16_t, 2> fp16{0xbe00, 0x4000};
  const std::array<std::uint16_t, 2> bf16{0xbfc0, 0x4000};
  const std::array<std::uint8_t, 2> e4m3{0xbc, 0x40};
  const std::array<std::uint8_t, 2> e5m2{0xbe, 0x40};
  for (const View view :
       {View{fp32.data(), Format::fp32}, View{fp32.data(), Format::tf32},
        View{fp16.data(), Format::fp16}, View{bf16.data(), Format::bf16},
        View{e4m3.data(), Format::fp8_e4m3}, View{e5m2.data(), Format::fp8_e5m2}}) {
    EXPECT_EQ(view[0], -1.5) << info(view.format).name;
    EXPECT_EQ(view[1], 2) << info(view.format).name;
    std::array<double, 2> both{};
    view.read(0, both);
    EXPECT_EQ(both, (std::array<double, 2>{-1.5, 2})) << info(view.format).name;
    view.read(1, std::span(both).first(1));
    EXPECT_EQ(both.front(), 2) << info(view.format).name;
  }
  const std::array<std::uint8_t, 2> scales{0x7e, 0x81};
  EXPECT_EQ((View{scales.data(), Format::ue8m0}[0]), 0.5);
  EXPECT_EQ((View{scales.data(), Format::ue8m0}[1]), 4);
  const std::array<std::uint8_t, 2> fp4{0x4b, 0x1f};
  const View pairs{fp4.data(), Format::fp4_e2m1};
  std::array<double, 3> last{};
  pairs.read(1, last);
  EXPECT_EQ(last, (std::array<double, 3>{2, -6, 0.5}));
  EXPECT_EQ(pairs[0], -1.5);
  EXPECT_EQ(pairs.from(2)[0], -6);
}

}  // namespace
}  // namespace ridgebench
