#include "harness/device/cpu/placement.hpp"

#include <omp.h>

#include <atomic>
#include <vector>

#include "harness/base/statistics.hpp"
#include "harness/base/stopwatch.hpp"

namespace ridgebench {
namespace {

constexpr int kSamples = 15;
constexpr int kLaps = 8;  // of a sample
// Threads that must share a processor hand over once per time slice: no more samples then.
constexpr double kLongest_s = 2e-3;
constexpr int kOver = -1;

struct alignas(128) Token {  // two lines: some processors fetch them in pairs
  std::atomic<int> holder{0};

  // False when the laps are over.
  bool await(int thread) const {
    int now = holder.load(std::memory_order_acquire);
    while (now != thread && now != kOver) now = holder.load(std::memory_order_acquire);
    return now != kOver;
  }
  void give(int thread) { holder.store(thread, std::memory_order_release); }
};

}  // namespace

double core_to_core_s(int threads) {
  if (threads < 2) return 0;
  Token token;
  std::vector<double> samples;
  samples.reserve(kSamples);
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    const int team = omp_get_num_threads();
    if (thread > 0) {
      while (token.await(thread)) token.give((thread + 1) % team);
    } else {
      const Stopwatch all;
      while (samples.size() < kSamples && all.seconds() < kLongest_s) {
        const Stopwatch clock;
        for (int lap = 0; lap < kLaps; ++lap) {
          token.give(1 % team);
          token.await(0);
        }
        samples.push_back(clock.seconds() / (kLaps * team));
      }
      token.give(kOver);
    }
  }
  return middle(samples);
}

}  // namespace ridgebench
