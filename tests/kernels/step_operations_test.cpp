// The elementwise operations of a step: every host technique against the reference, and the bytes
// and FLOPs of the specification.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/support/awkward_shapes.hpp"
#include "tests/support/elementwise.hpp"

namespace ridgebench {
namespace {

const Operation& named(std::string_view name) { return Registry::instance().operation(name); }

// Bytes of one element that an operation holds, reads and writes.
struct ElementBytes {
  double held, read, written;
  friend bool operator==(const ElementBytes&, const ElementBytes&) = default;
};

ElementBytes bytes_of(const Operation& operation, FormatPair format) {
  ElementBytes sum{};
  for (const Operand& o : operation.operands(unit_shape(operation), format)) {
    sum.held += o.bytes();
    sum.read += o.is_input() ? o.bytes() : 0;
    sum.written += o.is_output() ? o.bytes() : 0;
  }
  EXPECT_EQ(bytes(operation, unit_shape(operation), format), sum.read + sum.written);
  return sum;
}

class ElementwiseOfStep : public ::testing::TestWithParam<const char*> {};

TEST_P(ElementwiseOfStep, EveryHostTechniqueIsRightAtAwkwardSizesAndAlignments) {
  EXPECT_TRUE(named(GetParam()).of_step);
  expect_right_at_awkward_sizes_and_alignments(GetParam(), exact_on_integers(named(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(All, ElementwiseOfStep,
                         ::testing::Values("add", "swiglu", "relu_backward", "gelu_backward",
                                           "zero", "sgd", "sgd_master", "momentum",
                                           "momentum_master", "lion", "lion_master", "adamw",
                                           "adamw_master", "sgd_narrow_gradients",
                                           "momentum_narrow_gradients", "lion_narrow_gradients",
                                           "adamw_narrow_gradients"));

TEST(TransposeCopy, EveryHostTechniqueIsExactAtAwkwardShapesAndAlignments) {
  const Operation& operation = named("transpose_copy");
  EXPECT_TRUE(operation.of_step);
  for_each_host_technique("transpose_copy", [&](const Implementation& implementation) {
    for (const Shape& shape : awkward_shapes(operation)) {
      for (const std::int64_t offset : {0, 1}) {
        HostRun run(implementation, shape, offset);
        run.fill(Fill::normal);
        ASSERT_TRUE(run.launch());
        EXPECT_TRUE(run.verify().exact) << shape.text() << " offset " << offset;
      }
    }
  });
}

// Larger than the caches of a core, so that the technique streams where it can.
TEST(TransposeCopy, LargeMatricesAreExact) {
  for_each_host_technique("transpose_copy", [](const Implementation& implementation) {
    HostRun run(implementation, Shape({{"m", 1024}, {"n", 1100}}));
    run.fill(Fill::normal);
    ASSERT_TRUE(run.launch());
    EXPECT_TRUE(run.verify().exact);
  });
}

TEST(StepOperations, MoveTheBytesOfTheirOperands) {
  EXPECT_EQ(bytes_of(named("add"), Format::bf16), (ElementBytes{6, 4, 2}));
  EXPECT_EQ(bytes_of(named("swiglu"), Format::bf16), (ElementBytes{6, 4, 2}));
  EXPECT_EQ(bytes_of(named("relu_backward"), Format::fp32), (ElementBytes{12, 8, 4}));
  EXPECT_EQ(bytes_of(named("gelu_backward"), Format::fp16), (ElementBytes{6, 4, 2}));
  EXPECT_EQ(bytes_of(named("zero"), Format::fp32), (ElementBytes{4, 0, 4}));
  EXPECT_EQ(bytes_of(named("transpose_copy"), Format::bf16), (ElementBytes{4, 2, 2}));
}

// The table of docs/step_operations.md: bytes of a parameter that are held, read and written.
TEST(StepOperations, OptimizersMoveTheBytesOfTheirTable) {
  struct Row {
    const char* suffix;
    Format format;
    ElementBytes of_adamw, of_momentum, of_sgd;
  };
  const std::array rows{
      Row{"", Format::fp32, {16, 16, 12}, {12, 12, 8}, {8, 8, 4}},
      Row{"", Format::bf16, {12, 12, 10}, {8, 8, 6}, {4, 4, 2}},
      Row{"_master", Format::bf16, {16, 14, 14}, {12, 10, 10}, {8, 6, 6}},
      Row{"_narrow_gradients", Format::bf16, {14, 14, 12}, {10, 10, 8}, {6, 6, 4}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.suffix) + " " + FormatPair(row.format).name());
    const auto of = [&](const char* name) {
      return bytes_of(named(std::string(name) + row.suffix), row.format);
    };
    EXPECT_EQ(of("adamw"), row.of_adamw);
    EXPECT_EQ(of("momentum"), row.of_momentum);
    EXPECT_EQ(of("lion"), row.of_momentum);
    EXPECT_EQ(of("sgd"), row.of_sgd);
  }
}

TEST(StepOperations, CountTheFlopsOfTheirSpecification) {
  const auto flops = [](const char* name) {
    return named(name).flops(Shape({{"n", 1000}})) / 1000;
  };
  EXPECT_EQ(flops("add"), 1);
  EXPECT_EQ(flops("swiglu"), 5);
  EXPECT_EQ(flops("relu_backward"), 1);
  EXPECT_EQ(flops("gelu_backward"), 22);
  EXPECT_EQ(flops("zero"), 0);
  for (const char* suffix : {"", "_master", "_narrow_gradients"}) {
    EXPECT_EQ(flops((std::string("sgd") + suffix).c_str()), 2);
    EXPECT_EQ(flops((std::string("momentum") + suffix).c_str()), 4);
    EXPECT_EQ(flops((std::string("lion") + suffix).c_str()), 11);
    EXPECT_EQ(flops((std::string("adamw") + suffix).c_str()), 16);
  }
  EXPECT_EQ(named("transpose_copy").flops(Shape({{"m", 3}, {"n", 5}})), 0);
}

// One element of every output by the reference, from one of every input.
std::vector<Expected> reference_of(const char* name, FormatPair format,
                                   const std::vector<float>& in) {
  const Operation& operation = named(name);
  std::vector<View> views;
  for (const float& value : in) views.push_back({&value, Format::fp32});
  std::vector<Expected> out(outputs_of(operation, Shape({{"n", 1}}), format).size());
  operation.reference(Shape({{"n", 1}}), 0, views, out);
  return out;
}

// The numbers were computed with 40 decimal digits by the formulas of the papers.
TEST(StepOperations, OptimizersFollowTheirPapers) {
  constexpr double kOfFloats = 1e-8;  // the inputs are floats
  const auto adamw = reference_of("adamw", Format::fp32, {1, 0.2F, 0.5F, 0.05F});
  EXPECT_NEAR(adamw[0].value, 0.28, kOfFloats);
  EXPECT_NEAR(adamw[1].value, 0.5005, kOfFloats);
  EXPECT_NEAR(adamw[2].value, 0.04968478376454607, kOfFloats / 4);
  const auto lion = reference_of("lion", Format::fp32, {1, 0.2F, 0.05F});
  EXPECT_NEAR(lion[0].value, 0.208, kOfFloats);
  EXPECT_NEAR(lion[1].value, 0.04989995, kOfFloats / 4);
  const auto momentum = reference_of("momentum", Format::fp32, {1, 0.2F, 0.05F});
  EXPECT_NEAR(momentum[0].value, 1.18, kOfFloats);
  EXPECT_NEAR(momentum[1].value, 0.04882, kOfFloats / 4);
  EXPECT_NEAR(reference_of("sgd", Format::fp32, {1, 0.05F})[0].value, 0.049, kOfFloats / 4);
}

TEST(StepOperations, AMasterIsUpdatedAsTheParameterAndCopied) {
  for (const char* name : {"adamw_master", "lion_master", "momentum_master", "sgd_master"}) {
    const std::string plain(name, std::string_view(name).find('_'));
    const std::size_t states = named(plain).operands(Shape({{"n", 1}}), Format::fp32).size() - 2;
    std::vector<float> in{0.3F};
    in.insert(in.end(), states, 0.5F);
    in.push_back(0.05F);
    const auto expected = reference_of(plain.c_str(), Format::fp32, in);
    const auto found = reference_of(name, Format::bf16, in);
    ASSERT_EQ(found.size(), expected.size() + 1);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found[i].value, expected[i].value) << name;
    }
    EXPECT_EQ(found.back().value, expected.back().value) << name;
  }
}

// A right kernel in fp32 may find either sign where the terms of the direction cancel, and a zero
// gradient with a zero momentum leaves only the decay.
TEST(StepOperations, LionMayFindEitherSignOnlyWhereTheTermsCancel) {
  const auto norm = [](float g, float m) {
    return reference_of("lion", Format::fp32, {g, m, 0.05F})[1].norm;
  };
  EXPECT_GT(norm(-9, 1), 1e3);
  EXPECT_LT(norm(-8, 1), 1);
  EXPECT_LT(norm(0, 0), 1);
  EXPECT_NEAR(reference_of("lion", Format::fp32, {0, 0, 0.05F})[1].value, 0.05 * (1 - 1e-6), 1e-9);
}

// Five-point differences of GeLU, in double.
TEST(StepOperations, TheGradientOfGeluIsItsDerivative) {
  const auto gelu = [](double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
  };
  for (const float x : {-6.0F, -2.5F, -0.75F, 0.0F, 0.5F, 1.25F, 3.0F, 8.0F}) {
    constexpr double h = 1e-3;
    const double slope =
        (gelu(x - 2 * h) - 8 * gelu(x - h) + 8 * gelu(x + h) - gelu(x + 2 * h)) / (12 * h);
    EXPECT_NEAR(reference_of("gelu_backward", Format::fp32, {x, 2})[0].value, 2 * slope, 1e-9) << x;
  }
}

// Calls `check` with the output of a technique in fp32 for pairs of inputs. Libraries treat NaN and
// infinity in their own way.
void for_pairs(const char* name, const std::vector<std::array<float, 2>>& pairs,
               const std::function<void(std::size_t index, double out)>& check) {
  for_each_host_technique(name, [&](const Implementation& implementation) {
    if (implementation.format != FormatPair(Format::fp32)) return;
    if (implementation.technique.origin == Origin::library) return;
    HostRun run(implementation, vector_of(std::ssize(pairs)));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      for (const std::size_t operand : {0, 1}) {
        static_cast<float*>(run.array(operand).data())[i] = pairs[i].at(operand);
      }
    }
    ASSERT_TRUE(run.launch());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      check(i, run.output().view()[static_cast<std::int64_t>(i)]);
    }
  });
}

TEST(StepOperations, LargeInputsGiveTheLimits) {
  for_pairs("gelu_backward", {{-1e30F, 3}, {-100, 3}, {100, 3}, {1e30F, 3}},
            [](std::size_t i, double dx) { EXPECT_NEAR(dx, i < 2 ? 0 : 3, 1e-30) << i; });
  const std::array<double, 4> limits{0, 0, 300, 3000};
  for_pairs("swiglu", {{-1000, 3}, {-100, 3}, {100, 3}, {1000, 3}},
            [&](std::size_t i, double h) { EXPECT_NEAR(h, limits.at(i), 1e-30) << i; });
}

TEST(StepOperations, NanStaysNanAndOnlyThere) {
  for (const char* name : {"add", "swiglu", "gelu_backward"}) {
    expect_nan_stays_nan_and_only_there(name);
  }
}

// A NaN is not positive.
TEST(StepOperations, TheGradientOfReluPassesWhereTheInputIsPositive) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kLargest = std::numeric_limits<float>::infinity();
  const std::vector<std::array<float, 2>> pairs{
      {1, 2},        {-1, 2},    {0, 2},    {-0.0F, 2},     {kNan, 2}, {1e-45F, 2},
      {kLargest, 2}, {-1, kNan}, {0, kNan}, {-kLargest, 2}, {1, -5}};
  const std::array<double, 11> expected{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, -5};
  for_pairs("relu_backward", pairs,
            [&](std::size_t i, double dx) { EXPECT_EQ(dx, expected.at(i)) << i; });
}

}  // namespace
}  // namespace ridgebench
