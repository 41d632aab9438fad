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

Machine transfer_gpu(std::vector<int> peers) {
  Machine gpu;
  gpu.compute_capability = 90;
  gpu.peers = std::move(peers);
  return gpu;
}

TEST(Transfer, EveryPeerHasARow) {
  const auto shapes = [](Profile profile, const Machine& machine) {
    return transfer_operation("copy_to_peer").shapes(profile, Pace::fast, machine);
  };
  const Machine gpu = transfer_gpu({0, 2, 3});
  const std::vector<Shape> found = shapes(Profile::standard, gpu);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].text(), "n:67108864/peer:0");
  EXPECT_EQ(found[2].text(), "n:67108864/peer:3");
  EXPECT_EQ(shapes(Profile::quick, gpu).size(), 0U);
  EXPECT_EQ(shapes(Profile::full, Machine{}).size(), 0U);
  EXPECT_EQ(bytes(transfer_operation("copy_to_peer"), found[0], Format::fp32), 256 << 20);
}

TEST(Transfer, AGpuWithoutPeersSaysSoInARow) {
  const Machine alone = transfer_gpu({});
  const auto shapes =
      transfer_operation("copy_to_peer").shapes(Profile::standard, Pace::fast, alone);
  ASSERT_EQ(shapes.size(), 1U);
  EXPECT_EQ(peer_limit(alone, shapes[0]), "the process sees one GPU");
  const Machine gpu = transfer_gpu({0, 2});
  EXPECT_EQ(peer_limit(gpu, shapes[0]), "the process sees no such peer; allowed: 0, 2");
  EXPECT_EQ(peer_limit(gpu, shapes[0].with({{"peer", 2}})), std::nullopt);
}

TEST(Transfer, OnlyGpusHaveALink) {
  const Machine gpu = transfer_gpu({});
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
