// What the ceilings of sparse products and of each SM count, and in which profiles they are.
#include <gtest/gtest.h>

#include "kernels/ceilings/sweep/sm_times.hpp"
#include "kernels/ceilings/sweep/sparse.hpp"

namespace ridgebench {
namespace {

Machine characterised_gpu() {
  Machine machine;
  machine.units = 132;
  machine.compute_capability = 90;
  return machine;
}

const Operation& swept_ceiling(std::string_view name) {
  return Registry::instance().operation(name);
}

TEST(CharacterisingCeilings, AreNoRoofAndInStandardAndFullOfGpusOnly) {
  for (const std::string_view name : {"sm_times", "tensor_sparse_peak", "wgmma_sparse_peak"}) {
    const Operation& op = swept_ceiling(name);
    EXPECT_TRUE(op.ceiling->sweep) << name;
    EXPECT_TRUE(op.shapes(Profile::quick, Pace::fast, characterised_gpu()).empty()) << name;
    EXPECT_TRUE(op.shapes(Profile::lecture, Pace::fast, characterised_gpu()).empty()) << name;
    EXPECT_TRUE(op.shapes(Profile::full, Pace::fast, Machine{}).empty()) << name;
    for (const Profile profile : {Profile::standard, Profile::full}) {
      EXPECT_EQ(op.shapes(profile, Pace::fast, characterised_gpu()).size(), 1U) << name;
    }
  }
}

TEST(SmTimes, EverySmHasOneBlockOfTheSameWork) {
  const Shape shape =
      swept_ceiling("sm_times").shapes(Profile::standard, Pace::fast, characterised_gpu()).front();
  EXPECT_EQ(shape["n"], 132 * kSmTimesThreads * kFmaChains);
  const double clocks = swept_ceiling("sm_times").flops(shape) / 132 / 256;
  EXPECT_GT(clocks, 1.5e6);
  EXPECT_LT(clocks, 2e7);
}

constexpr std::int64_t kSparseDepth = 8;  // of B, with zeros of A

Shape small_sparse(std::int64_t iterations) {
  return Shape({{"tiles", 1}, {"m", 2}, {"n", 3}, {"k", kSparseDepth}, {"iterations", iterations}});
}

TEST(SparseProducts, FlopsAreThoseOfStoredNumbers) {
  const Operation& op = swept_ceiling("wgmma_sparse_peak");
  const Shape shape = small_sparse(10);
  EXPECT_EQ(op.flops(shape), 2 * 2 * 3 * (kSparseDepth / 2) * 10);
  EXPECT_EQ(op.reduction(shape), kSparseDepth / 2 * 10);
  const std::vector<Operand> operands = op.operands(shape, Format::bf16);
  EXPECT_EQ(operands[0].elements, 2 * kSparseDepth / 2);
  EXPECT_EQ(operands[1].elements, 3 * kSparseDepth);
  EXPECT_EQ(operands[2].format, Format::fp32);
}

TEST(SparseProducts, StoredNumbersMeetTheSecondAndTheThirdOfFour) {
  std::vector<float> a(2 * kSparseDepth / 2, 1);
  std::vector<float> b(3 * kSparseDepth, 0);
  const std::vector<View> in{{a.data(), Format::fp32}, {b.data(), Format::fp32}};
  std::vector<Expected> out(6);
  a[3] = 5;  // of row 0: the third of the second four
  for (std::int64_t k = 0; k < kSparseDepth; ++k) {
    std::ranges::fill(b, 0);
    b[static_cast<std::size_t>(k)] = 7;  // column 0
    swept_ceiling("tensor_sparse_peak").reference(small_sparse(2), 0, in, out);
    const double stored = k == 6 ? 5 : k == 1 || k == 2 || k == 5 ? 1 : 0;
    EXPECT_EQ(out[0].value, 2 * 7 * stored) << k;
    EXPECT_EQ(out[1].value, 0) << k;
  }
}

}  // namespace
}  // namespace ridgebench
