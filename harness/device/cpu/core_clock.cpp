#include "harness/device/cpu/core_clock.hpp"

#include "harness/base/stopwatch.hpp"

namespace ridgebench {

#if defined(__x86_64__)

namespace {

// Of two registers: newer processors fold additions of constants.
constexpr int kAdditions = 64;
constexpr int kRounds = 512;

double clock_of_this_thread_hz() {
  long sum = 0;
  const long one = 1;
  const Stopwatch clock;
  for (int i = 0; i < kRounds; ++i) {
    asm volatile(".rept %c2\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(one), "i"(kAdditions));
  }
  return kRounds * kAdditions / clock.seconds();
}

}  // namespace

std::optional<double> core_clock_hz(int threads) {
  double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  sum += clock_of_this_thread_hz();
  return sum / threads;
}

#else

std::optional<double> core_clock_hz(int /*threads*/) { return std::nullopt; }

#endif

}  // namespace ridgebench
