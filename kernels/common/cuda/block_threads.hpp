// How many threads a block has in kernels that stream through memory, with one vector of 16 bytes
// per thread. 2048 of them keep 32 KiB of loads in flight on a streaming multiprocessor (SM). With
// more vectors per thread no block size was as fast on an H200 (a trial of a copy on 2026-11-27).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace ridgebench::cuda {

// Facts that the choice depends on; 0 if unknown.
struct MemorySystem {
  double bytes_per_s = 0;  // of the memory's pins
  int units = 0;           // SMs
  int threads_per_sm = 0;
};

struct BlockThreads {
  int threads;

  // The record says it.
  [[nodiscard]] std::string choice() const {
    return "blocks of " + std::to_string(threads) + " threads";
  }
  [[nodiscard]] std::string name() const { return "threads=" + std::to_string(threads); }
};

inline constexpr int kMostThreads = 1024;
inline constexpr int kLeastThreads = 256;

// 256 where the memory is fast: an H200 copies at 4.26 TB/s with blocks of 256 threads, at 4.24
// with 512 and at 4.12 with 1024 (same trial). Elsewhere, and where the memory is unknown,
// `most_threads`, with which an H100 meets its copy ceiling; it has not been tried with fewer. In
// any case half as many until an SM's threads are a multiple of a block's: 1536 threads are three
// blocks of 512.
inline BlockThreads choose_threads(const MemorySystem& memory, int most_threads = kMostThreads) {
  constexpr double fast = 30e9;  // bytes/s per SM: between an H100 (25e9) and an H200 (36e9)
  if (memory.bytes_per_s > fast * std::max(memory.units, 1)) return {kLeastThreads};
  int threads = most_threads;
  while (threads > kLeastThreads && memory.threads_per_sm % threads != 0) threads /= 2;
  return {threads};
}

// The choices for which with_threads<kMost>() has a kernel.
template <int kMost = kMostThreads>
std::vector<BlockThreads> block_threads() {
  std::vector<BlockThreads> choices;
  for (int threads = kLeastThreads; threads <= kMost; threads *= 2) choices.push_back({threads});
  return choices;
}

// Calls use.operator()<threads>() of a choice of at most kMost threads. Kernels are compiled for
// 256, 512 and 1024.
template <int kMost = kMostThreads, class Use>
auto with_threads(const BlockThreads& block, const Use& use) {
  if (block.threads == 256) return use.template operator()<256>();
  if constexpr (kMost == 1024) {
    if (block.threads == 1024) return use.template operator()<1024>();
  }
  return use.template operator()<512>();
}

}  // namespace ridgebench::cuda
