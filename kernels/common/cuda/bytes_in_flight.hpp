// How many vectors of 16 bytes a thread handles, and how many threads a block has, in kernels that
// stream through memory: enough that a streaming multiprocessor (SM) keeps the bytes in flight that
// its share of the memory needs (Little's law), and no more.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

namespace ridgebench::cuda {

// What the choice depends on; 0 where unknown.
struct MemorySystem {
  double bytes_per_s = 0;  // of the memory's pins
  int units = 0;           // SMs
  int threads_per_sm = 0;
};

// Bytes of loads that an SM of an H100 with 3.35 TB/s keeps in flight. Sources: CUB's tuning,
// cub/device/dispatch/tuning/tuning_transform.cuh (32 KiB for an H100, 48 KiB for an H200), and
// runs of relu, whose kernel meets the copy ceiling of an H100 with 32 KiB.
inline constexpr int kBytesInFlightOfH100 = 32 << 10;

// In proportion to the pins' bytes per second and SM, as if the latency were everywhere the same;
// rounded to multiples of 16 KiB: 16 KiB for an A100, 32 KiB for an H100, 48 KiB for an H200 and
// 64 KiB for a B200. Unknown memory gets what an H100 needs.
inline int wanted_bytes_in_flight(const MemorySystem& memory) {
  constexpr double of_h100 = 3.35e12 / 132;
  constexpr int step = 16 << 10;
  if (memory.bytes_per_s <= 0 || memory.units <= 0) return kBytesInFlightOfH100;
  const double share = memory.bytes_per_s / memory.units / of_h100;
  const double steps = std::round(share * kBytesInFlightOfH100 / step);
  return step * static_cast<int>(std::clamp(steps, 1.0, 64.0));
}

// Threads of an SM that find registers: all that it holds, or three quarters of them with four
// vectors per thread, which take more registers.
constexpr int resident_threads(int threads_of_sm, int vectors) {
  return vectors == 4 ? threads_of_sm / 4 * 3 : threads_of_sm;
}

struct VectorChoice {
  int vectors;          // per thread
  int threads;          // per block
  int bytes_in_flight;  // on an SM that is full of such blocks

  // The record says it.
  [[nodiscard]] std::string choice() const {
    return std::to_string(vectors) + (vectors == 1 ? " vector" : " vectors") +
           " of 16 bytes per thread, blocks of " + std::to_string(threads) + " threads, " +
           std::to_string(bytes_in_flight >> 10) + " KiB in flight per SM";
  }
  friend constexpr bool operator==(const VectorChoice&, const VectorChoice&) = default;
};

// Threads that an SM of this compute capability holds: 90 for 9.0. Source: CUDA C++ Programming
// Guide, "Technical Specifications per Compute Capability"; ptxas warns of launch bounds beyond it.
constexpr int threads_per_sm(int capability) {
  if (capability == 75) return 1024;
  const bool fewer = (capability > 80 && capability < 90) || capability == 110 || capability >= 120;
  return fewer ? 1536 : 2048;
}

// Vectors that a block handles at most. Blocks of more threads with one vector each, and smaller
// blocks with several, take the same 16 KiB, so that an SM gets a new block equally often.
inline constexpr int kMostVectorsOfBlock = 1024;
inline constexpr int kLeastVectorsOfBlock = 512;  // for supports_vectors
inline constexpr int kMostThreads = 1024;
inline constexpr int kLeastThreads = 256;

// The fewest vectors per thread, of 1, 2 and 4, that keep enough bytes in flight, or 4. A block has
// kMostVectorsOfBlock vectors, but at most `most_threads` threads, and half as many until an SM's
// threads are a multiple of a block's: 1536 threads (8.6, 8.9, 12.0) are three blocks of 512.
inline VectorChoice choose_vectors(const MemorySystem& memory, int most_threads = kMostThreads) {
  const int threads_per_sm = memory.threads_per_sm > 0 ? memory.threads_per_sm : 2048;
  const auto choice = [&](int vectors) -> VectorChoice {
    int threads = std::min(kMostVectorsOfBlock / vectors, most_threads);
    while (threads > kLeastThreads && threads_per_sm % threads != 0) threads /= 2;
    const int resident = resident_threads(threads_per_sm, vectors) / threads * threads;
    return {vectors, threads, resident * vectors * 16};
  };
  const int wanted = wanted_bytes_in_flight(memory);
  for (const int vectors : {1, 2}) {
    if (choice(vectors).bytes_in_flight >= wanted) return choice(vectors);
  }
  return choice(4);
}

// Calls use.operator()<vectors, threads>() of the choice. Kernels are compiled for these only,
// which are all that choose_vectors makes where an SM holds a multiple of 512 threads, as all
// from 8.0 on do.
template <int kMost = kMostThreads, class Use>
auto with_vectors(const VectorChoice& choice, const Use& use) {
  if (choice.vectors == 4) return use.template operator()<4, 256>();
  if (choice.vectors == 2) return use.template operator()<2, 512>();
  if constexpr (kMost == 1024) {
    if (choice.threads == 1024) return use.template operator()<1, 1024>();
  }
  return use.template operator()<1, 512>();
}

}  // namespace ridgebench::cuda
