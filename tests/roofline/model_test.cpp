#include "roofline/model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "roofline/roofs.hpp"

namespace ridgebench {
namespace {

Roof sheet_roof(const char* device, Format format) {
  return limiting_rates(Roofs(*find_data_sheet(device)), Engine::tensor, format, 0.5).roof();
}

const Roof& h100() {
  static const Roof roof = sheet_roof("h100-sxm", Format::bf16);
  return roof;
}

// Work of the lecture's operations in a format of s bytes per element.
Work relu(double n, double s) { return {.flops = n, .bytes = 2 * s * n}; }
Work gelu(double n, double s) { return {.flops = 20 * n, .bytes = 2 * s * n}; }
Work dot(double n, double s) { return {.flops = 2 * n, .bytes = 2 * s * n + s}; }
Work matvec(double n, double s) { return {.flops = 2 * n * n, .bytes = s * (n * n + 2 * n)}; }
Work matmul(double n, double s) { return {.flops = 2 * n * n * n, .bytes = 3 * s * n * n}; }

TEST(LectureDevices, H100RidgeIs295InBf16) { EXPECT_NEAR(h100().ridge(), 295, 0.002 * 295); }

TEST(LectureDevices, H200RidgeIs206InBf16) {
  EXPECT_NEAR(sheet_roof("h200", Format::bf16).ridge(), 206, 0.002 * 206);
}

TEST(LectureDevices, H100PeaksAreDense) {
  EXPECT_DOUBLE_EQ(sheet_roof("h100-sxm", Format::bf16).peak_flops_per_s, 989.5e12);
  EXPECT_DOUBLE_EQ(sheet_roof("h100-sxm", Format::fp32).peak_flops_per_s, 67e12);
  EXPECT_DOUBLE_EQ(sheet_roof("h100-sxm", Format::tf32).peak_flops_per_s, 494.7e12);
  EXPECT_DOUBLE_EQ(sheet_roof("h100-sxm", Format::fp8_e4m3).peak_flops_per_s, 1979e12);
  EXPECT_DOUBLE_EQ(h100().bandwidth_bytes_per_s, 3.35e12);
}

TEST(LectureOperations, IntensitiesAtBf16) {
  EXPECT_DOUBLE_EQ(*relu(1 << 20, 2).intensity(), 0.25);
  EXPECT_DOUBLE_EQ(*gelu(1 << 20, 2).intensity(), 5);
  EXPECT_NEAR(*dot(1 << 20, 2).intensity(), 0.5, 1e-6);
  EXPECT_NEAR(*matvec(4096, 2).intensity(), 1, 0.001);
  EXPECT_NEAR(*matmul(1024, 2).intensity(), 341.3, 0.05);
}

TEST(LectureOperations, AllButMatmulAreMemoryBoundOnH100) {
  EXPECT_EQ(bound(relu(1 << 20, 2), h100()), Limit::memory);
  EXPECT_EQ(bound(gelu(1 << 20, 2), h100()), Limit::memory);
  EXPECT_EQ(bound(dot(1 << 20, 2), h100()), Limit::memory);
  EXPECT_EQ(bound(matvec(4096, 2), h100()), Limit::memory);
  EXPECT_EQ(bound(matmul(1024, 2), h100()), Limit::compute);
}

TEST(LectureOperations, MatmulTurnsComputeBoundAt886OnH100And618OnH200) {
  const Roof h200 = sheet_roof("h200", Format::bf16);
  EXPECT_EQ(bound(matmul(886, 2), h100()), Limit::memory);
  EXPECT_EQ(bound(matmul(887, 2), h100()), Limit::compute);
  EXPECT_EQ(bound(matmul(618, 2), h200), Limit::memory);
  EXPECT_EQ(bound(matmul(619, 2), h200), Limit::compute);
}

TEST(LectureOperations, GeluTakesTheTimeOfReluAlone) {
  EXPECT_DOUBLE_EQ(time_lower_bound_s(gelu(1e8, 2), h100()),
                   time_lower_bound_s(relu(1e8, 2), h100()));
}

TEST(LectureOperations, Fp8MatmulWithBf16OutputHasIntensityHalfN) {
  const double n = 4096;
  const Work work{.flops = 2 * n * n * n, .bytes = n * n + n * n + 2 * n * n};
  EXPECT_DOUBLE_EQ(*work.intensity(), n / 2);
}

TEST(LectureConventions, AttainableIsTheLowerOfPeakAndDiagonal) {
  EXPECT_DOUBLE_EQ(attainable_flops_per_s(relu(1e6, 2), h100()), 0.25 * 3.35e12);
  EXPECT_DOUBLE_EQ(attainable_flops_per_s(matmul(4096, 2), h100()), 989.5e12);
}

TEST(LectureConventions, BestMfuIsIntensityOverRidgeAtMostOne) {
  EXPECT_DOUBLE_EQ(mfu_bound(gelu(1e6, 2), h100()), 5 / (989.5 / 3.35));
  EXPECT_DOUBLE_EQ(mfu_bound(matmul(4096, 2), h100()), 1);
}

TEST(LectureConventions, TimeIsMaximumWithAndSumWithoutOverlap) {
  const Roof roof{.peak_flops_per_s = 100, .bandwidth_bytes_per_s = 10};
  const Work work{.flops = 300, .bytes = 20};
  EXPECT_DOUBLE_EQ(time_lower_bound_s(work, roof), 3);
  EXPECT_DOUBLE_EQ(time_without_overlap_s(work, roof), 5);
}

TEST(Model, AtTheRidgeItselfWorkIsComputeBound) {
  const Roof roof{.peak_flops_per_s = 64, .bandwidth_bytes_per_s = 8};
  EXPECT_EQ(bound({.flops = 80, .bytes = 10}, roof), Limit::compute);
  EXPECT_EQ(bound({.flops = 79, .bytes = 10}, roof), Limit::memory);
  EXPECT_DOUBLE_EQ(mfu_bound({.flops = 80, .bytes = 10}, roof), 1);
}

TEST(Model, WorkWithoutFlopsIsMemoryBoundAndAttainsNone) {
  const Work copy{.flops = 0, .bytes = 3.35e12};
  EXPECT_EQ(bound(copy, h100()), Limit::memory);
  EXPECT_EQ(attainable_flops_per_s(copy, h100()), 0);
  EXPECT_EQ(mfu_bound(copy, h100()), 0);
  EXPECT_DOUBLE_EQ(time_lower_bound_s(copy, h100()), 1);
}

TEST(Model, WorkWithoutBytesHasNoIntensityAndAttainsThePeak) {
  const Work registers{.flops = 989.5e12, .bytes = 0};
  EXPECT_FALSE(registers.intensity().has_value());
  EXPECT_EQ(bound(registers, h100()), Limit::compute);
  EXPECT_EQ(attainable_flops_per_s(registers, h100()), 989.5e12);
  EXPECT_DOUBLE_EQ(time_without_overlap_s(registers, h100()), 1);
}

TEST(Model, NoWorkIsLaunchBoundAndTakesNoTime) {
  EXPECT_EQ(bound({.flops = 0, .bytes = 0}, h100()), Limit::launch);
  EXPECT_EQ(time_lower_bound_s({.flops = 0, .bytes = 0}, h100()), 0);
}

TEST(Model, BoundsHaveTheNamesOfTheRecord) {
  EXPECT_EQ(name(Limit::memory), "memory");
  EXPECT_EQ(name(Limit::compute), "compute");
  EXPECT_EQ(name(Limit::special), "special");
  EXPECT_EQ(name(Limit::launch), "launch");
}

}  // namespace
}  // namespace ridgebench
