// The vote of a node's GPUs over the bits of a row.
#include "harness/cli/node/bits.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace ridgebench::node {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

const std::string kRight = "00112233445566aa";
const std::string kOther = "ffeeddccbbaa9988";
const std::string kThird = "0123456789abcdef";
const std::vector<std::string> kNames{"cuda:0", "cuda:1", "cuda:2", "cuda:3",
                                      "cuda:4", "cuda:5", "cuda:6", "cuda:7"};

BitsOfRow bits_on(std::size_t gpu, const std::string& fingerprint,
                  std::vector<std::string> units = {}, const std::string& pass = "isolated") {
  return {.gpu = gpu, .pass = pass, .fingerprint = fingerprint, .units = std::move(units)};
}

TEST(NodeBits, EqualBitsAreNotOdd) {
  const std::vector<BitsOfRow> bits{bits_on(0, kRight), bits_on(1, kRight), bits_on(2, kRight)};
  EXPECT_THAT(vote_on_row("relu", bits, kNames), IsEmpty());
}

TEST(NodeBits, TheMajorityOfThreeIsRight) {
  const std::vector<BitsOfRow> bits{bits_on(0, kRight), bits_on(1, kOther), bits_on(2, kRight)};
  const std::vector<OddBits> odd = vote_on_row("relu", bits, kNames);
  ASSERT_THAT(odd, SizeIs(1));
  EXPECT_TRUE(odd[0].wrong);
  EXPECT_EQ(odd[0].gpu, 1U);
  EXPECT_EQ(odd[0].text, "other bits than most of 3 GPUs in relu (isolated)");
}

TEST(NodeBits, TwoGpusCannotVote) {
  const std::vector<BitsOfRow> bits{bits_on(0, kRight), bits_on(1, kOther)};
  const std::vector<OddBits> odd = vote_on_row("relu", bits, kNames);
  ASSERT_THAT(odd, SizeIs(2));
  for (const OddBits& one : odd) {
    EXPECT_FALSE(one.wrong);
    EXPECT_THAT(one.text, HasSubstr("two GPUs cannot vote"));
  }
  EXPECT_THAT(odd[0].text, HasSubstr("cuda:1"));
}

TEST(NodeBits, AGpuThatDiffersFromItselfIsWrong) {
  const std::vector<BitsOfRow> bits{bits_on(0, kRight), bits_on(0, kOther, {}, "loaded"),
                                    bits_on(1, kRight), bits_on(1, kRight, {}, "loaded")};
  const std::vector<OddBits> odd = vote_on_row("relu", bits, kNames);
  ASSERT_FALSE(odd.empty());
  EXPECT_EQ(odd[0].gpu, 0U);
  EXPECT_TRUE(odd[0].wrong);
}

TEST(NodeBits, MultiprocessorsOfOneGpuVoteToo) {
  std::vector<std::string> units(132, kRight);
  units[77] = kOther;
  const std::vector<OddBits> odd =
      vote_on_row("unit_products", std::vector{bits_on(0, kOther, units)}, kNames);
  ASSERT_THAT(odd, SizeIs(1));
  EXPECT_THAT(odd[0].text, StartsWith("SM 77 computes other bits"));
}

// SM 1 of cuda:0 is odd. Then cuda:1 is not in doubt in any row, because its only peer is wrong.
TEST(NodeBits, AGpuWhoseMultiprocessorsAreOutvotedHasNoVote) {
  const auto record = [](const std::string& fingerprint, std::vector<std::string> units) {
    Record made;
    made.fingerprint = fingerprint;
    if (!units.empty()) made.telemetry["unit_fingerprints"] = std::move(units);
    return made;
  };
  const RecordsOfPass two{{{"relu", record(kOther, {})},
                           {"unit_products", record(kOther, {kRight, kOther, kRight, kRight})}},
                          {{"relu", record(kRight, {})},
                           {"unit_products", record(kRight, {kRight, kRight, kRight, kRight})}}};
  const auto odd = find_odd_bits({{"isolated", &two}}, {"H200", "H200"}, kNames);
  ASSERT_THAT(odd, SizeIs(1));
  EXPECT_EQ(odd[0].gpu, 0U);
  EXPECT_TRUE(odd[0].wrong && odd[0].silent);
  EXPECT_THAT(odd[0].text, StartsWith("SM 1 computes other bits in unit_products (isolated)"));
}

// The multiprocessors of both GPUs together have no majority, and those of cuda:0 have one.
TEST(NodeBits, TheMultiprocessorsOfAGpuVoteWhereThoseOfAllHaveNoMajority) {
  const std::vector<BitsOfRow> bits{bits_on(0, kOther, {kRight, kRight, kRight, kOther}),
                                    bits_on(1, kThird, {kThird, kThird, kThird, kThird})};
  const std::vector<OddBits> odd = vote_on_row("unit_products", bits, kNames);
  ASSERT_THAT(odd, SizeIs(1));
  EXPECT_TRUE(odd[0].wrong && odd[0].silent);
  EXPECT_THAT(odd[0].text, StartsWith("SM 3 computes other bits"));
}

// 2,000 nodes of three to eight GPUs, of which one has one wrong multiprocessor.
TEST(NodeBits, TheOddGpuAndItsMultiprocessorAreFoundAndNoOtherIs) {
  std::mt19937 random(1);
  for (int node = 0; node < 2000; ++node) {
    const std::size_t gpus = 3 + random() % 6;
    const std::size_t odd_gpu = random() % gpus;
    const std::size_t odd_unit = random() % 16;
    std::vector<BitsOfRow> bits;
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
      std::vector<std::string> units(16, kRight);
      if (gpu == odd_gpu) units[odd_unit] = kOther;
      bits.push_back(bits_on(gpu, gpu == odd_gpu ? kOther : kRight, units));
    }
    const std::vector<OddBits> odd = vote_on_row("unit_products", bits, kNames);
    ASSERT_THAT(odd, SizeIs(1)) << node;
    EXPECT_EQ(odd[0].gpu, odd_gpu);
    EXPECT_THAT(odd[0].text, StartsWith("SM " + std::to_string(odd_unit) + " computes"));
  }
}

}  // namespace
}  // namespace ridgebench::node
