#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

// y = 2x + y: two FLOPs and 12 bytes per element.
static void saxpy(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  std::vector<float> x(n, 1.0F), y(n, 2.0F);
  for (auto _ : state) {
    for (std::size_t i = 0; i < n; ++i) y[i] += 2.0F * x[i];
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 12);
}
BENCHMARK(saxpy)->Arg(1024)->Arg(65536)->UseRealTime();
BENCHMARK(saxpy)->Arg(4096)->Unit(benchmark::kMicrosecond);

static void product(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  std::vector<float> a(n * n, 1.0F), b(n * n, 2.0F), c(n * n, 0.0F);
  for (auto _ : state) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(product)->Arg(64)->Unit(benchmark::kMillisecond);

static void broken(benchmark::State& state) {
  state.SkipWithError("no input");
  for (auto _ : state) {
  }
}
BENCHMARK(broken);
BENCHMARK_MAIN();
