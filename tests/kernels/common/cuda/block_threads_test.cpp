#include "kernels/common/cuda/block_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace ridgebench::cuda {
namespace {

struct Known {
  std::string name;
  MemorySystem memory;
  int threads;
};

// Data sheets' bandwidths; SMs and threads per SM of the CUDA programming guide.
const Known kKnown[] = {
    {"A100 40 GB, 8.0", {1.555e12, 108, 2048}, 1024},
    {"A100 80 GB, 8.0", {2.039e12, 108, 2048}, 1024},
    {"A10, 8.6", {600e9, 72, 1536}, 512},
    {"L40S, 8.9", {864e9, 142, 1536}, 512},
    {"H100 SXM, 9.0", {3.35e12, 132, 2048}, 1024},
    {"H200 SXM, 9.0", {4.8e12, 132, 2048}, 256},
    {"H200 by its clock, 9.0", {4.917e12, 132, 2048}, 256},
    {"B200, 10.0", {8e12, 148, 2048}, 256},
    {"RTX 5090, 12.0", {1.792e12, 170, 1536}, 512},
    {"unknown memory", {0, 132, 2048}, 1024},
    {"all unknown", {}, 1024},
};

TEST(BlockThreads, FollowTheMemoryOfEveryKnownDevice) {
  for (const Known& known : kKnown) {
    EXPECT_EQ(choose_threads(known.memory).threads, known.threads) << known.name;
    EXPECT_EQ(choose_threads(known.memory, 512).threads, std::min(known.threads, 512))
        << known.name;
  }
}

// Whatever the memory, blocks fill an SM and are of a form that with_threads calls.
TEST(BlockThreads, EveryChoiceFillsAnSmAndHasAKernel) {
  for (const int threads_per_sm : {1024, 1536, 2048}) {
    for (const int most_threads : {512, 1024}) {
      std::set<int> forms;
      for (const double rate : {0.0, 10e9, 29e9, 31e9, 100e9}) {
        const BlockThreads block = choose_threads({rate * 100, 100, threads_per_sm}, most_threads);
        EXPECT_EQ(threads_per_sm % block.threads, 0);
        const auto form = []<int kThreads>() { return kThreads; };
        EXPECT_EQ(most_threads == 512 ? with_threads<512>(block, form) : with_threads(block, form),
                  block.threads);
        forms.insert(block.threads);
      }
      const int slow = threads_per_sm == 1536 ? 512 : most_threads;
      EXPECT_EQ(forms, (std::set{256, slow}));
    }
  }
}

TEST(BlockThreads, TheRecordSaysTheChoice) {
  EXPECT_EQ(BlockThreads{256}.choice(), "blocks of 256 threads");
}

TEST(BlockThreads, AUserMayNameEachFormOfAKernel) {
  std::vector<std::string> names;
  for (const BlockThreads& block : block_threads()) names.push_back(block.name());
  EXPECT_EQ(names, (std::vector<std::string>{"threads=256", "threads=512", "threads=1024"}));
  EXPECT_EQ(block_threads<512>().size(), 2);
}

}  // namespace
}  // namespace ridgebench::cuda
