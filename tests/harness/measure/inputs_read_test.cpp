// The elements of an input that rows of the outputs read.
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

#include "harness/measure/verifying/inputs.hpp"
#include "harness/measure/verifying/reference.hpp"
#include "tests/support/awkward_shapes.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

TEST(ElementsRead, AreAllOfAnOperandThatEveryRowMayRead) {
  const std::vector<ElementRange> ranges =
      elements_read({"x", 100, Format::fp32}, std::vector<std::int64_t>{3});
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].first, 0);
  EXPECT_EQ(ranges[0].end, 100);
}

TEST(ElementsRead, BeginAtBlocksDoNotOverlapAndEndWithTheOperand) {
  const Operand operand{"x", 98, Format::fp32, Access::read, {}, 5};
  const std::vector<std::int64_t> rows{0, 1, 4, 5, 12, 19};
  const std::vector<ElementRange> ranges = elements_read(operand, rows);
  std::vector<bool> covered(98);
  std::int64_t end = -1;
  for (const ElementRange& range : ranges) {
    EXPECT_EQ(range.first % kElementsPerBlock, 0);
    EXPECT_GT(range.first, end);
    end = range.end;
    for (std::int64_t i = range.first; i < range.end; ++i)
      covered[static_cast<std::size_t>(i)] = true;
  }
  for (const std::int64_t row : rows) {
    for (std::int64_t i = 5 * row; i < std::min<std::int64_t>(5 * row + 5, 98); ++i) {
      EXPECT_TRUE(covered[static_cast<std::size_t>(i)]) << i;
    }
  }
  EXPECT_FALSE(covered[50]);
  EXPECT_EQ(ranges.back().end, 98);
}

class OperandsByRow : public RegistryTest {};

// What an operation says of its operands, against its reference: other elements are NaN.
TEST_F(OperandsByRow, HoldAllThatARowReads) {
  std::size_t operands_by_row = 0;
  for (const auto& operation : Registry::instance().operations()) {
    const FormatPair format = operation->formats.front();
    for (const Shape& shape : awkward_shapes(*operation)) {
      const Problem problem(*operation, shape, format);
      const std::vector<Operand>& operands = problem.operands;
      std::vector<std::vector<std::byte>> whole;
      std::vector<View> all;
      for (const Operand& operand : operands) {
        if (!operand.is_input()) continue;
        whole.emplace_back(static_cast<std::size_t>(operand.bytes()));
        fill_random(whole.back().data(), operand.elements, operand.format,
                    {.values = operand.values, .seed = 7}, omp_get_max_threads());
        all.push_back({whole.back().data(), operand.format});
      }
      const std::int64_t last = problem.rows - 1;
      for (const std::int64_t row : {std::int64_t{0}, last / 2, last}) {
        std::size_t input = 0;
        for (const Operand& operand : operands) {
          if (!operand.is_input()) continue;
          const std::size_t i = input++;
          if (operand.by_row == 0) continue;
          ++operands_by_row;
          std::vector<std::byte> some(whole[i].size(), std::byte{0xFF});
          const auto size = info(operand.format).storage_bytes;
          for (const ElementRange& range : elements_read(operand, std::span(&row, 1))) {
            std::copy_n(whole[i].data() + range.first * size, range.size() * size,
                        some.data() + range.first * size);
          }
          std::vector<View> views = all;
          views[i].data = some.data();
          const auto expected = reference_of(problem, all, std::span(&row, 1));
          const auto found = reference_of(problem, views, std::span(&row, 1));
          for (std::size_t e = 0; e < expected.size(); ++e) {
            EXPECT_EQ(found[e].value, expected[e].value)
                << operation->name << ' ' << shape.text() << ' ' << operand.name << " row " << row;
          }
        }
      }
    }
  }
  EXPECT_GT(operands_by_row, 20U);
}

}  // namespace
}  // namespace ridgebench
