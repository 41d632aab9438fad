// What the copies between host and GPU count, and which numbers show that a copy to the host came.
#include "kernels/transfer/transfer.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ridgebench {
namespace {

const Operation& transfer_operation(std::string_view name) {
  return Registry::instance().operation(name);
}

TEST(Transfer, BytesAreCountedOnceForEachDirection) {
  const Shape shape({{"n", 1000}});
  EXPECT_EQ(bytes(transfer_operation("copy_to_device"), shape, Format::fp32), 4000);
  EXPECT_EQ(bytes(transfer_operation("copy_to_host"), shape, Format::fp32), 4000);
  EXPECT_EQ(bytes(transfer_operation("copy_both_ways"), shape, Format::fp32), 8000);
}

TEST(Transfer, NumbersFromTheWholeCopyAreTakenOnce) {
  for (const std::int64_t n : {1, 2, 255, 256, 257, 1000, 1 << 26}) {
    std::set<std::int64_t> places;
    for (std::int64_t i = 0; i < taken_of(n); ++i) places.insert(taken_at(i, n));
    EXPECT_EQ(std::ssize(places), std::min(n, kTaken));
    EXPECT_EQ(*places.begin(), 0);
    EXPECT_GE(*places.rbegin(), n - 1 - n / kTaken);
    EXPECT_LT(*places.rbegin(), n);
  }
}

TEST(Transfer, OnlyGpusHaveALink) {
  Machine gpu;
  gpu.compute_capability = 90;
  for (const std::string_view name : {"copy_to_device", "copy_to_host", "copy_both_ways"}) {
    const auto sizes = [&](Profile profile, const Machine& machine) {
      return transfer_operation(name).shapes(profile, Pace::fast, machine).size();
    };
    EXPECT_EQ(sizes(Profile::full, gpu), 5U);
    EXPECT_EQ(sizes(Profile::standard, gpu), 2U);
    EXPECT_EQ(sizes(Profile::quick, gpu), 0U);
    EXPECT_EQ(sizes(Profile::full, Machine{}), 0U);
  }
}

}  // namespace
}  // namespace ridgebench
