// Measures a host's memory bandwidth after McCalpin's STREAM, without any code of the suite, to check
// the suite's DRAM ceilings (stream.py puts both next to each other).
//
//   gcc -O3 -march=native -ffast-math -fopenmp -funroll-loops -fvariable-expansion-in-unroller stream.c -o stream
//   OMP_PROC_BIND=true ./stream [MiB] [nt|plain] [repeats] [kernel]
//
// MiB is the size of each of the three arrays (default 256; use at least 4 x the last-level cache). `nt`
// (default) and `plain` choose the stores. The program prints the best and the median GB/s of each kernel,
// or of the one that is named. Bytes count as read + written; the lines that `plain` stores read for
// ownership do not count.
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static float *a, *b, *c;
static long n;
static int nt = 1;
static volatile float sink;

// Prefetch distances in bytes for the first and the second cache, and the number of streams in which a
// thread reads. The best choice depends on the processor, so each kernel tries all of them before it is
// measured. Distance 0 prefetches the line that is read anyway.
struct way {
  long first, second;
  int streams;  // used by read only
};
static const struct way choices[] = {
    {0, 0, 1},       {1024, 1024, 1}, {2048, 2048, 1}, {4096, 4096, 1},  {8192, 8192, 1},
    {1024, 4096, 1}, {2048, 8192, 1}, {4096, 16384, 1}, {0, 0, 2},       {2048, 2048, 2},
    {8192, 8192, 2}, {1024, 4096, 2}, {2048, 4096, 2},  {2048, 8192, 2}};
static struct way way;

static inline __attribute__((always_inline)) void prefetch(const float* x) {
  __builtin_prefetch((const char*)x + way.first, 0, 3);
  __builtin_prefetch((const char*)x + way.second, 0, 2);
}

// The widest vector with a streaming store that the compiler may use. A processor of ARM recognises a stream by itself
// and stores it past its caches; C cannot request that, so that `nt` and `plain` are the same there.
#if defined(__AVX512F__)
typedef __m512 vector;
#define STREAM _mm512_stream_ps
#elif defined(__AVX__)
typedef __m256 vector;
#define STREAM _mm256_stream_ps
#elif defined(__x86_64__)
typedef __m128 vector;
#define STREAM _mm_stream_ps
#else
typedef float vector __attribute__((vector_size(16)));
#define STREAM(to, value) (*(vector*)(to) = (value))
#endif
enum { WIDTH = sizeof(vector) / sizeof(float) };

static inline vector load(const float* x) { return *(const vector*)x; }

static float sum_of(vector x) {
  float sum = 0;
  for (int k = 0; k < WIDTH; ++k) sum += x[k];
  return sum;
}

// A thread reads one vector of each half of its share in turn. The halves start three pages off the exact
// middle, so that both streams do not map to the same cache sets.
static void read_in_two_streams(void) {
  enum { MORE = 3072 };
  float sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    const long share = n / omp_get_num_threads() / WIDTH * WIDTH;
    const long apart = share / 2 / WIDTH * WIDTH + MORE;
    const float* x = a + share * omp_get_thread_num();
    vector s = {0}, t = {0};
#pragma GCC unroll 1  // unrolled, the compiler reads several lines of one stream, then of the other
    for (long i = 0; i < share - apart; i += WIDTH) {
      prefetch(x + i);
      s += load(x + i);
      prefetch(x + apart + i);
      t += load(x + apart + i);
    }
    for (long i = share - apart; i < apart; i += WIDTH) s += load(x + i);
    sum += sum_of(s + t);
  }
  sink = sum;
}

// Eight sums overlap the latency of the additions.
static void read_all(void) {
  if (way.streams == 2) {
    read_in_two_streams();
    return;
  }
  enum { SUMS = 8 };
  float sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    vector s[SUMS] = {{0}};
#pragma omp for schedule(static)
    for (long i = 0; i < n; i += SUMS * WIDTH) {
      for (int k = 0; k < SUMS; ++k) {
        prefetch(a + i + k * WIDTH);
        s[k] += load(a + i + k * WIDTH);
      }
    }
    for (int k = 0; k < SUMS; ++k) sum += sum_of(s[k]);
  }
  sink = sum;
}

// dst[i] = 3, x[i], or x[i] + 3 y[i].
static inline __attribute__((always_inline)) void write_all(float* dst, const float* x, const float* y) {
  const vector s = (vector){0} + 3.0F;
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (long i = 0; i < n; i += WIDTH) {
      if (x) prefetch(x + i);
      if (y) prefetch(y + i);
      vector v = x ? load(x + i) : s;
      if (y) v += s * load(y + i);
      if (nt) STREAM(dst + i, v);
      else *(vector*)(dst + i) = v;
    }
#if defined(__x86_64__)
    _mm_sfence();
#endif
  }
}
static void write_only(void) { write_all(c, NULL, NULL); }
static void copy(void) { write_all(c, a, NULL); }
static void triad(void) { write_all(c, a, b); }

static float* array(void) {
  float* p = aligned_alloc(1 << 21, (size_t)n * sizeof(float));
  if (!p) exit(1);
  madvise(p, (size_t)n * sizeof(float), MADV_HUGEPAGE);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) p[i] = 1.0F;
  return p;
}

static int ascending(const void* x, const void* y) {
  const double d = *(const double*)x - *(const double*)y;
  return (d > 0) - (d < 0);
}

static double seconds_of(void (*kernel)(void)) {
  const double start = omp_get_wtime();
  kernel();
  return omp_get_wtime() - start;
}

// Returns the choice with the fastest of three trials.
static struct way fastest(void (*kernel)(void)) {
  struct way best = choices[0];
  double least = 1e30;
  for (int trial = 0; trial < 3; ++trial) {
    for (size_t i = 0; i < sizeof choices / sizeof *choices; ++i) {
      way = choices[i];
      const double seconds = seconds_of(kernel);
      if (seconds < least) least = seconds, best = way;
    }
  }
  return best;
}

static void report(const char* name, void (*kernel)(void), int arrays, int repeats) {
  double* seconds = malloc((size_t)repeats * sizeof(double));
  way = fastest(kernel);
  for (int r = 0; r < repeats; ++r) seconds[r] = seconds_of(kernel);
  qsort(seconds, (size_t)repeats, sizeof(double), ascending);
  const double gigabytes = 1e-9 * arrays * (double)n * sizeof(float);
  printf("%-6s best %7.2f  median %7.2f GB/s, prefetch %ld and %ld bytes ahead", name, gigabytes / seconds[0],
         gigabytes / seconds[repeats / 2], way.first, way.second);
  if (kernel == read_all) printf(", %d stream%s", way.streams, way.streams == 1 ? "" : "s");
  printf("\n");
  free(seconds);
}

int main(int argc, char** argv) {
  n = (argc > 1 ? atol(argv[1]) : 256) * (1L << 20) / (long)sizeof(float);
  nt = argc <= 2 || strcmp(argv[2], "plain") != 0;
  const int repeats = argc > 3 ? atoi(argv[3]) : 30;
  const struct {
    const char* name;
    void (*kernel)(void);
    int arrays;
  } kernels[] = {{"read", read_all, 1}, {"write", write_only, 1}, {"copy", copy, 2}, {"triad", triad, 3}};
  a = array();
  b = array();
  c = array();
  printf("%d threads, %.0f MiB each, %s stores\n", omp_get_max_threads(), (double)n * 4 / (1 << 20), nt ? "nt" : "plain");
  for (int k = 0; k < 4; ++k) {
    if (argc <= 4 || strcmp(argv[4], kernels[k].name) == 0) report(kernels[k].name, kernels[k].kernel, kernels[k].arrays, repeats);
  }
  return 0;
}
