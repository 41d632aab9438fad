// Every tile and cluster that the persistent product is compiled for, on integer matrices that no
// tile divides, must give the exact product.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/emulator/emulator.hpp"
#include "tests/emulator/hopper/exact_products.hpp"

namespace ridgebench::emulator {
namespace {

using cuda::FastTiles;
using cuda::PromotedTiles;
using exact_products::expect_exact_products;

class Instances : public ::testing::Test {
 protected:
  void SetUp() override { set_compute_capability(90); }
};

TEST_F(Instances, MultiplyBf16InEveryLayout) {
  for (const Layout layout : {Layout::nt, Layout::nn, Layout::tn}) {
    SCOPED_TRACE(static_cast<int>(layout));
    expect_exact_products<FastTiles, Bf16, Bf16>(layout);
  }
}
TEST_F(Instances, MultiplyFp16) { expect_exact_products<FastTiles, Fp16, Fp16>(Layout::nt); }
TEST_F(Instances, MultiplyTf32) { expect_exact_products<FastTiles, Tf32, Tf32>(Layout::nt); }
TEST_F(Instances, MultiplyFp8) {
  expect_exact_products<FastTiles, Fp8E4m3, Bf16>(Layout::nt);
  expect_exact_products<FastTiles, Fp8E5m2, Bf16>(Layout::nt);
}
// A slice of a GPU may be too small for a cluster of four, or for any.
TEST_F(Instances, ChooseOnlyClustersThatTheDeviceHolds) {
  const Shape large({{"m", 4096}, {"n", 4096}, {"k", 4096}}, Layout::nt);
  HostQueue queue;
  for (const int sms : {1, 2, 3, 7}) {
    set_multiprocessors(sms);
    EXPECT_EQ(cuda::active_clusters(), (cuda::ActiveClusters{sms, sms / 2, sms / 4}));
    const auto choice = cuda::prepare_choice<FastTiles, false, Bf16, Bf16, Bf16>(queue, large);
    EXPECT_LE(choice.cluster, sms);
  }
  set_multiprocessors(0);
  const auto choice = cuda::prepare_choice<FastTiles, false, Bf16, Bf16, Bf16>(queue, large);
  std::string reason;
  try {
    cuda::bind_plain<FastTiles, Bf16, Bf16, Bf16>(queue, choice, large, nullptr, nullptr, nullptr);
  } catch (const Unsupported& error) {
    reason = error.what();
  }
  set_multiprocessors(kMultiprocessors);
  EXPECT_NE(reason.find("the device holds no cluster of 1 blocks"), std::string::npos) << reason;
}
// A user names a choice, so no two may have one name.
template <class List>
void expect_own_names() {
  std::set<std::string> names;
  for (const auto& choice : cuda::all_choices<List>()) names.insert(choice.name());
  EXPECT_EQ(names.size(), List::kShapes.size() * cuda::kClusters.size());
  const auto& first = List::kShapes[0];
  EXPECT_TRUE(names.contains("tile=" + std::to_string(first.m) + "x" + std::to_string(first.n) +
                             ",cluster=2"));
}
TEST_F(Instances, HaveNamesOfTheirOwn) {
  expect_own_names<FastTiles>();
  expect_own_names<PromotedTiles>();
}
TEST_F(Instances, PromoteFp8) { expect_exact_products<PromotedTiles, Fp8E4m3, Bf16>(Layout::nt); }

}  // namespace
}  // namespace ridgebench::emulator
