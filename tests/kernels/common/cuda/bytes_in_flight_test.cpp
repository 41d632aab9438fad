#include "kernels/common/cuda/bytes_in_flight.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace ridgebench::cuda {
namespace {

constexpr int kKiB = 1024;

struct Known {
  std::string name;
  MemorySystem memory;
  int wanted;
  VectorChoice choice;
};

// Data sheets' bandwidths; SMs and threads per SM of the CUDA programming guide.
const Known kKnown[] = {
    {"A100 40 GB, 8.0", {1.555e12, 108, 2048}, 16 * kKiB, {1, 1024, 32 * kKiB}},
    {"A100 80 GB, 8.0", {2.039e12, 108, 2048}, 16 * kKiB, {1, 1024, 32 * kKiB}},
    {"A10, 8.6", {600e9, 72, 1536}, 16 * kKiB, {1, 512, 24 * kKiB}},
    {"L40S, 8.9", {864e9, 142, 1536}, 16 * kKiB, {1, 512, 24 * kKiB}},
    {"H100 SXM, 9.0", {3.35e12, 132, 2048}, 32 * kKiB, {1, 1024, 32 * kKiB}},
    {"H200 SXM, 9.0", {4.8e12, 132, 2048}, 48 * kKiB, {2, 512, 64 * kKiB}},
    {"H200 by its clock, 9.0", {4.917e12, 132, 2048}, 48 * kKiB, {2, 512, 64 * kKiB}},
    {"B200, 10.0", {8e12, 148, 2048}, 64 * kKiB, {2, 512, 64 * kKiB}},
    {"RTX 5090, 12.0", {1.792e12, 170, 1536}, 16 * kKiB, {1, 512, 24 * kKiB}},
    {"twice a B200", {16e12, 148, 2048}, 144 * kKiB, {4, 256, 96 * kKiB}},
};

TEST(BytesInFlight, FollowThePinsOfEveryKnownDevice) {
  for (const Known& known : kKnown) {
    SCOPED_TRACE(known.name);
    EXPECT_EQ(wanted_bytes_in_flight(known.memory), known.wanted);
    EXPECT_EQ(choose_vectors(known.memory), known.choice) << choose_vectors(known.memory).choice();
  }
}

// What ptxas of CUDA 13.0 accepts: it warns of two blocks of 1024 threads where an SM holds fewer.
TEST(BytesInFlight, ThreadsOfAnSmAreThoseThatPtxasKnows) {
  EXPECT_EQ(threads_per_sm(75), 1024);
  for (const int capability : {80, 90, 100, 103}) EXPECT_EQ(threads_per_sm(capability), 2048);
  for (const int capability : {86, 87, 88, 89, 110, 120, 121}) {
    EXPECT_EQ(threads_per_sm(capability), 1536) << capability;
  }
}

TEST(BytesInFlight, OfUnknownMemoryAreThoseOfAnH100) {
  EXPECT_EQ(wanted_bytes_in_flight({}), kBytesInFlightOfH100);
  EXPECT_EQ(wanted_bytes_in_flight({0, 132, 2048}), kBytesInFlightOfH100);
  EXPECT_EQ(wanted_bytes_in_flight({3e12, 0, 2048}), kBytesInFlightOfH100);
  EXPECT_EQ(choose_vectors({}), (VectorChoice{1, 1024, 32 * kKiB}));
}

// Whatever the memory, blocks fill an SM, keep what is wanted in flight unless four vectors per
// thread cannot, and are of a form that with_vectors calls.
TEST(BytesInFlight, EveryChoiceFillsAnSmAndHasAKernel) {
  for (const int threads_per_sm : {1536, 2048}) {
    for (const int most_threads : {512, 1024}) {
      std::set<std::pair<int, int>> forms;
      for (double rate = 1e9; rate < 1e12; rate *= 1.03) {
        const MemorySystem memory{rate * 100, 100, threads_per_sm};
        const VectorChoice choice = choose_vectors(memory, most_threads);
        EXPECT_EQ(threads_per_sm % choice.threads, 0);
        const int resident = choice.vectors == 4 ? threads_per_sm / 4 * 3 : threads_per_sm;
        EXPECT_EQ(choice.bytes_in_flight,
                  resident / choice.threads * choice.threads * choice.vectors * 16);
        EXPECT_TRUE(choice.vectors == 4 ||
                    choice.bytes_in_flight >= wanted_bytes_in_flight(memory));
        if (choice.vectors > 1) {
          EXPECT_LT(choice.bytes_in_flight / 2, wanted_bytes_in_flight(memory)) << "too many";
        }
        const auto called = [&] {
          const auto form = [&]<int kVectors, int kThreads>() {
            return std::pair(kVectors, kThreads);
          };
          return most_threads == 512 ? with_vectors<512>(choice, form) : with_vectors(choice, form);
        }();
        EXPECT_EQ(called, std::pair(choice.vectors, choice.threads));
        forms.insert(called);
      }
      EXPECT_EQ(forms.size(), 3U);
    }
  }
}

TEST(BytesInFlight, TheRecordSaysTheChoice) {
  EXPECT_EQ((VectorChoice{1, 1024, 32 * kKiB}).choice(),
            "1 vector of 16 bytes per thread, blocks of 1024 threads, 32 KiB in flight per SM");
  EXPECT_EQ((VectorChoice{2, 512, 64 * kKiB}).choice(),
            "2 vectors of 16 bytes per thread, blocks of 512 threads, 64 KiB in flight per SM");
}

}  // namespace
}  // namespace ridgebench::cuda
