// The sizes and layouts in which techniques multiply by default.
#include <gmock/gmock.h>

#include <algorithm>

#include "kernels/matmul/matmul.hpp"

namespace ridgebench {
namespace {

std::vector<Shape> naive_sweep(Profile profile, int compute_capability) {
  Machine machine;
  machine.compute_capability = compute_capability;
  machine.flops_per_s_hint = 5e14;
  return matmul_operation().shapes(profile, Pace::naive, machine);
}

TEST(MatmulSweep, NaiveTechniquesOfAGpuMultiplyOneSizeInBothLayouts) {
  for (const Profile profile : {Profile::quick, Profile::standard}) {
    const std::vector<Shape> sweep = naive_sweep(profile, 90);
    const auto nn = std::ranges::find(sweep, Layout::nn, &Shape::layout);
    ASSERT_NE(nn, sweep.end());
    EXPECT_EQ(std::ranges::count(sweep, Layout::nn, &Shape::layout), 1);
    const auto same_size = [&](const Shape& s) {
      return s.layout() == Layout::nt && s["m"] == (*nn)["m"] && s["k"] == (*nn)["k"];
    };
    EXPECT_EQ(std::ranges::count_if(sweep, same_size), 1) << "to compare with";
    for (const Shape& shape : sweep) EXPECT_EQ(std::ranges::count(sweep, shape), 1);
  }
  EXPECT_EQ(naive_sweep(Profile::quick, 90).size(), 2U);
  EXPECT_EQ(naive_sweep(Profile::quick, 0).size(), 1U) << "a host has no coalesced loads";
}

}  // namespace
}  // namespace ridgebench
