// An independent timing of OpenBLAS's sgemm: Google Benchmark's own loop around the call, C = A B^T
// of n x n matrices. It shares no code with the suite.
//
//   g++ -O2 sgemm_loop.cpp -lbenchmark -lopenblas -lpthread -o sgemm_loop && ./sgemm_loop 1024 30
//
// Before each repetition the process stops itself until it is continued, as `ridgebench run
// --take-turns` does, so that the two can be measured in turn (sides.py).
#include <benchmark/benchmark.h>
#include <cblas.h>

#include <csignal>
#include <cstdlib>
#include <random>
#include <vector>

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1024;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 30;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> a(std::size_t(n) * n), b(a.size()), c(a.size());
  for (float& x : a) x = normal(random);
  for (float& x : b) x = normal(random);
  const auto multiply = [&] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, a.data(), n, b.data(), n, 0,
                c.data(), n);
  };
  benchmark::RegisterBenchmark(
      "sgemm",
      [&](benchmark::State& state) {
        kill(0, SIGSTOP);
        multiply();
        for (auto _ : state) multiply();
        state.counters["GFLOP/s"] =
            benchmark::Counter(2e-9 * n * n * n, benchmark::Counter::kIsIterationInvariantRate);
      })
      ->Iterations(3)
      ->Repetitions(repetitions)
      ->ReportAggregatesOnly(true)
      ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
