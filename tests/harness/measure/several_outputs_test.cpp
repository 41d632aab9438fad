// An operation with two outputs, one of whole numbers: every element of both is compared.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "harness/measure/verifying/reference.hpp"
#include "harness/measure/verifying/verification.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

constexpr std::int64_t kRows = 5;
constexpr std::int64_t kColumns = 3;

// y = 2 x, and at[row] = the column of the row's largest element.
Operation doubled_and_largest() {
  Operation op;
  op.name = "doubled_and_largest";
  op.dimensions = {"m", "n"};
  op.formats = {Format::fp32};
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"at", s["m"], Format::int32, Access::written},
            {"x", s["m"] * s["n"], f.a},
            {"y", s["m"] * s["n"], f.a, Access::written}};
  };
  op.row_length = [](const Shape&) { return 1; };
  op.reduction = [](const Shape&) { return 1.0; };
  op.flops = [](const Shape& s) { return static_cast<double>(s["m"] * s["n"]); };
  op.reference = [](const Shape& s, std::int64_t row, std::span<const View> in,
                    std::span<Expected> out) {
    std::size_t largest = 0;
    for (std::size_t i = 0; i + 1 < out.size(); ++i) {
      const double x = in[0][row * s["n"] + static_cast<std::int64_t>(i)];
      out[i + 1] = {2 * x, std::abs(2 * x)};
      if (out[i + 1].value > out[largest + 1].value) largest = i;
    }
    out[0] = {static_cast<double>(largest), 0};
  };
  return op;
}

class SeveralOutputsTest : public ::testing::Test {
 protected:
  SeveralOutputsTest() {
    implementation_.operation = &operation_;
    implementation_.format = Format::fp32;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      x_.at(i) = static_cast<float>((7 * i) % 11);
      y_.at(i) = 2 * x_.at(i);
    }
    at_ = {1, 0, 0, 0, 2};
  }

  // By the kept reference, and row by row.
  std::vector<Verification> verify(std::span<const std::int64_t> rows) {
    const View x{x_.data(), Format::fp32};
    std::vector<std::int32_t> at;
    std::vector<float> y;
    for (const std::int64_t row : rows) {
      at.push_back(at_.at(static_cast<std::size_t>(row)));
      for (std::int64_t i = 0; i < kColumns; ++i) {
        y.push_back(y_.at(static_cast<std::size_t>(row * kColumns + i)));
      }
    }
    const std::array views{View{at.data(), Format::int32}, View{y.data(), Format::fp32}};
    const auto expected = reference_of(problem_, {&x, 1}, rows);
    return {compare(implementation_, problem_, views, rows, expected),
            compare(implementation_, problem_, views, rows, std::span(&x, 1))};
  }

  Operation operation_ = doubled_and_largest();
  Implementation implementation_{};
  Problem problem_{operation_, Shape({{"m", kRows}, {"n", kColumns}}), Format::fp32};
  std::array<float, kRows * kColumns> x_{};
  std::array<float, kRows * kColumns> y_{};
  std::array<std::int32_t, kRows> at_{};
};

TEST_F(SeveralOutputsTest, ARightOneIsExactInAllOfItsElements) {
  for (const Verification& v : verify(problem_.all_rows())) {
    EXPECT_TRUE(v.exact);
    EXPECT_EQ(v.elements, kRows * kColumns + kRows);
  }
  EXPECT_EQ(problem_.row_elements, kColumns + 1);
}

TEST_F(SeveralOutputsTest, AWrongElementOfEitherIsFound) {
  const auto rows = problem_.all_rows();
  y_.back() += 1;
  for (const Verification& v : verify(rows)) EXPECT_FALSE(v.passed());
  y_.back() -= 1;
  at_.back() = 1;  // whole numbers have no tolerance
  for (const Verification& v : verify(rows)) EXPECT_FALSE(v.passed());
}

TEST_F(SeveralOutputsTest, ASampleOfRowsLooksAtThoseRows) {
  const std::vector<std::int64_t> rows{0, 3, 4};
  y_.at(1 * kColumns) = -1;  // in row 1
  for (const Verification& v : verify(rows)) {
    EXPECT_TRUE(v.passed());
    EXPECT_EQ(v.elements, std::ssize(rows) * (kColumns + 1));
  }
  y_.at(3 * kColumns) = -1;
  for (const Verification& v : verify(rows)) EXPECT_FALSE(v.passed());
}

TEST_F(SeveralOutputsTest, OutputsMustHaveOneNumberOfRows) {
  operation_.operands = [](const Shape&, FormatPair f) -> std::vector<Operand> {
    return {{"a", 4, f.a, Access::written}, {"b", 6, f.a, Access::written}};
  };
  EXPECT_THROW(outputs_of(operation_, problem_.shape, Format::fp32), std::logic_error);
}

}  // namespace
}  // namespace ridgebench
