// The check of a product with a batch and leading dimensions: it passes what is right, and finds
// kernels that ignore the distance of matrices or of lines, or write between the rows of C.
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/cpu/device.hpp"
#include "harness/measure/bound_case.hpp"
#include "harness/measure/probing/new_inputs.hpp"
#include "harness/measure/verifying/output_check.hpp"
#include "kernels/common/product_strides.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

// What a mistaken kernel takes for the truth.
struct Distances {
  std::int64_t of_a, of_b, of_c;  // of the matrices of a batch
  std::int64_t lda, ldb, ldc;
  std::int64_t columns;  // of C that it writes

  explicit Distances(const Shape& s)
      : of_a(lines_of_a(s).elements()),
        of_b(lines_of_b(s).elements()),
        of_c(lines_of_c(s).elements()),
        lda(lines_of_a(s).stride),
        ldb(lines_of_b(s).stride),
        ldc(lines_of_c(s).stride),
        columns(s["n"]) {}
};
using Mistake = std::function<void(Distances&)>;

// Layout nt in fp32.
void multiply(const Shape& s, const Distances& d, const float* a, const float* b, float* c) {
  for (std::int64_t product = 0; product < batch_of(s); ++product) {
    for (std::int64_t i = 0; i < s["m"]; ++i) {
      for (std::int64_t j = 0; j < d.columns; ++j) {
        float sum = 0;
        for (std::int64_t p = 0; p < s["k"]; ++p) {
          sum += a[product * d.of_a + i * d.lda + p] *
                 b[product * d.of_b + std::min(j, s["n"] - 1) * d.ldb + p];
        }
        c[product * d.of_c + i * d.ldc + j] = sum;
      }
    }
  }
}

class BatchedProducts : public RegistryTest {
 protected:
  // Why a kernel with this mistake is wrong; empty if nothing found it.
  std::string found(const Shape& shape, const Mistake& mistake, double cost = 1e12) {
    Implementation implementation = naive();
    implementation.bind = [&](Queue&, const Plan&, const Shape& s, std::span<void* const> p) {
      Distances distances(s);
      mistake(distances);
      return [=, operands = std::vector<void*>(p.begin(), p.end())] {
        multiply(s, distances, static_cast<float*>(operands[0]), static_cast<float*>(operands[1]),
                 static_cast<float*>(operands[2]));
      };
    };
    const Case c{.operation = implementation.operation,
                 .technique = implementation.technique,
                 .implementation = &implementation,
                 .device = &device_,
                 .format = Format::fp32,
                 .shape = shape};
    const Problem problem = c.problem();
    OutputCheck check(device_, 1, {cost, cost});
    std::vector<BoundCase> cases;
    cases.emplace_back(c, problem, buffers_, check);
    bind_cases(buffers_, cases, 2);
    Verification result;
    if (auto wrong = cases.front().check_first(result)) return *wrong;
    return cases.front().check_after(result, true).value_or("");
  }

  static Implementation naive() {
    for (const auto& i : Registry::instance().implementations()) {
      if (i->operation->name == "matmul" && i->technique.name == "naive" &&
          i->backend == Backend::cpu && i->format == FormatPair(Format::fp32)) {
        return *i;
      }
    }
    throw std::logic_error("no naive");
  }
  static Shape shape(const char* text) {
    return parse_shape(text, Registry::instance().operation("matmul"));
  }

  CpuDevice device_;
  Buffers buffers_{device_, Fill::normal, 0};
};

constexpr const char* kBatch = "m:33/n:17/k:40/b:3";
constexpr const char* kGaps = "m:33/n:17/k:40/b:3/lda:43/ldb:45/ldc:19";

TEST_F(BatchedProducts, WhatIsRightPasses) {
  for (const char* const text : {kBatch, kGaps, "m:5/n:3/k:7/ldc:4", "m:5/n:3/k:7/lda:100"}) {
    EXPECT_EQ(found(shape(text), [](Distances&) {}), "") << text;
    EXPECT_EQ(found(shape(text), [](Distances&) {}, 3e4), "") << text << ", sampled";
  }
}

TEST_F(BatchedProducts, TheStrideOfABatchThatIsIgnoredIsFound) {
  for (const char* const text : {kBatch, kGaps}) {
    for (const double cost : {1e12, 3e4}) {  // all elements; some rows and sums of groups
      EXPECT_NE(found(shape(text), [](Distances& d) { d.of_a = 0; }, cost), "") << text;
      EXPECT_NE(found(shape(text), [](Distances& d) { d.of_b = 0; }, cost), "") << text;
      EXPECT_NE(found(shape(text), [](Distances& d) { d.of_c = 0; }, cost), "") << text;
    }
  }
}

TEST_F(BatchedProducts, ALeadingDimensionThatIsIgnoredIsFound) {
  EXPECT_NE(found(shape(kGaps), [](Distances& d) { d.lda = 40; }), "");
  EXPECT_NE(found(shape(kGaps), [](Distances& d) { d.ldb = 40; }), "");
  EXPECT_NE(found(shape(kGaps), [](Distances& d) { d.ldc = 17; }), "");
}

TEST_F(BatchedProducts, AWriteBetweenTheRowsIsFound) {
  EXPECT_EQ(found(shape(kGaps), [](Distances& d) { d.columns = 18; }), kStrayWrite);
  EXPECT_EQ(found(shape("m:5/n:3/k:7/ldc:4"), [](Distances& d) { d.columns = 4; }), kStrayWrite);
}

TEST_F(BatchedProducts, GapsAreGuardedAfterNewInputsToo) {
  const Problem problem(Registry::instance().operation("matmul"), shape(kGaps), Format::fp32);
  const std::vector<BufferSet> sets = buffers_.allocate(problem.operands, 2);
  buffers_.reset();
  std::vector<HostBuffer> saved;
  NewInputs inputs(device_, buffers_, problem, sets, {0, 2}, Novelty::fresh, 1, saved);
  inputs.write();
  EXPECT_TRUE(buffers_.guards_intact());
  EXPECT_TRUE(outputs_hold_nan(device_.memory(), problem.outputs, sets[0]));
  for (const DeviceMemory::Region& gap : gaps_of(problem.operands[2], sets[1][2])) {
    EXPECT_EQ(gap.size(), 2 * sizeof(float));
  }
  inputs.restore();
}

// A batch packs a B for each product, which the cost of its check counts.
TEST_F(BatchedProducts, TheCostOfACheckGrowsWithTheBatch) {
  const Operation& matmul = Registry::instance().operation("matmul");
  const Problem one(matmul, shape("m:64/n:64/k:64"), Format::fp32);
  const Problem many(matmul, shape("m:1/n:64/k:64/b:64"), Format::fp32);
  EXPECT_EQ(one.rows, many.rows);
  EXPECT_GT(cost_of_rows(many, 64), 3 * cost_of_rows(one, 64));
  EXPECT_EQ(cost_of_rows(many, 1), cost_of_rows(one, 1));
  EXPECT_LT(count_to_check(many, 3e5), count_to_check(one, 3e5));
}

}  // namespace
}  // namespace ridgebench
