// An independent check of the host's DRAM ceilings, after McCalpin's STREAM: it shares no code with
// the suite.
//
//   gcc -O3 -march=native -ffast-math -fopenmp -funroll-loops -fvariable-expansion-in-unroller stream.c -o stream
//   OMP_PROC_BIND=true ./stream [MiB] [nt|plain] [repeats] [kernel]
//
// MiB is the size of each of the three arrays (default 256; at least 4 x the last-level cache), `nt`
// (default) and `plain` choose the stores. Prints GB/s of each kernel, best and median of the
// repeats, with bytes counted as read + written: what `plain` stores read for ownership is not.
// With the name of a kernel only that one runs, and the process stops itself before each repeat
// until it is continued, as `ridgebench run --take-turns` does, so that the two can be measured in
// turn (sides.py).
#include <immintrin.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static float *a, *b, *c;
static long n;
static int nt = 1;
static const char* only = NULL;
static volatile float sink;
// How many bytes ahead a kernel asks, for the first cache and for the second, and in how many streams
// a thread reads: what suits depends on the processor, so each kernel tries them all before it is
// measured. 0 is the line that it reads anyway, which can be quicker than not to ask.
struct way {
  long first, second;
  int streams;  // of read alone
};
static const struct way choices[] = {
    {0, 0, 1},       {1024, 1024, 1}, {2048, 2048, 1}, {4096, 4096, 1},  {8192, 8192, 1},
    {1024, 4096, 1}, {2048, 8192, 1}, {4096, 16384, 1}, {0, 0, 2},       {2048, 2048, 2},
    {8192, 8192, 2}, {1024, 4096, 2}, {2048, 4096, 2},  {2048, 8192, 2}};
static struct way way;

static inline __attribute__((always_inline)) void ask(const float* x) {
  __builtin_prefetch((const char*)x + way.first, 0, 3);
  __builtin_prefetch((const char*)x + way.second, 0, 2);
}

// The widest streaming store that the compiler was allowed to use.
#if defined(__AVX512F__)
typedef __m512 vector;
#define LOAD _mm512_load_ps
#define STORE _mm512_store_ps
#define STREAM _mm512_stream_ps
#define SET _mm512_set1_ps
#elif defined(__AVX__)
typedef __m256 vector;
#define LOAD _mm256_load_ps
#define STORE _mm256_store_ps
#define STREAM _mm256_stream_ps
#define SET _mm256_set1_ps
#else
typedef __m128 vector;
#define LOAD _mm_load_ps
#define STORE _mm_store_ps
#define STREAM _mm_stream_ps
#define SET _mm_set1_ps
#endif
enum { WIDTH = sizeof(vector) / sizeof(float) };

static float sum_of(vector x) {
  float sum = 0;
  for (int k = 0; k < WIDTH; ++k) sum += ((const float*)&x)[k];
  return sum;
}

// A thread's share from two places, a vector of each in turn, three pages more than half of it apart.
static void read_in_two_streams(void) {
  enum { MORE = 3072 };
  float sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    const long share = n / omp_get_num_threads() / WIDTH * WIDTH;
    const long apart = share / 2 / WIDTH * WIDTH + MORE;
    const float* x = a + share * omp_get_thread_num();
    vector s = SET(0.0F), t = s;
#pragma GCC unroll 1  // else the compiler asks for several lines of one, then of the other
    for (long i = 0; i < share - apart; i += WIDTH) {
      ask(x + i);
      s += LOAD(x + i);
      ask(x + apart + i);
      t += LOAD(x + apart + i);
    }
    for (long i = share - apart; i < apart; i += WIDTH) s += LOAD(x + i);
    sum += sum_of(s + t);
  }
  sink = sum;
}

// Sums enough to overlap the additions.
static void read_all(void) {
  if (way.streams == 2) {
    read_in_two_streams();
    return;
  }
  enum { SUMS = 8 };
  float sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    vector s[SUMS];
    for (int k = 0; k < SUMS; ++k) s[k] = SET(0.0F);
#pragma omp for schedule(static)
    for (long i = 0; i < n; i += SUMS * WIDTH) {
      for (int k = 0; k < SUMS; ++k) {
        ask(a + i + k * WIDTH);
        s[k] += LOAD(a + i + k * WIDTH);
      }
    }
    for (int k = 0; k < SUMS; ++k) sum += sum_of(s[k]);
  }
  sink = sum;
}

// Every kernel that writes: dst[i] = 3, x[i], or x[i] + 3 y[i].
static inline __attribute__((always_inline)) void write_all(float* dst, const float* x, const float* y) {
  const vector s = SET(3.0F);
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (long i = 0; i < n; i += WIDTH) {
      if (x) ask(x + i);
      if (y) ask(y + i);
      vector v = x ? LOAD(x + i) : s;
      if (y) v += s * LOAD(y + i);
      if (nt) STREAM(dst + i, v);
      else STORE(dst + i, v);
    }
    _mm_sfence();
  }
}
static void write_kernel(void) { write_all(c, NULL, NULL); }
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

// The choice whose fastest of three is the fastest.
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

static void report(const char* name, void (*kernel)(void), int streams, int repeats) {
  if (only && strcmp(only, name) != 0) return;
  double* seconds = malloc((size_t)repeats * sizeof(double));
  way = fastest(kernel);
  for (int r = 0; r < repeats; ++r) {
    if (only) {
      kill(0, SIGSTOP);
      kernel();  // what the other process left in the caches is nobody's
    }
    seconds[r] = seconds_of(kernel);
  }
  qsort(seconds, (size_t)repeats, sizeof(double), ascending);
  const double gigabytes = 1e-9 * streams * (double)n * sizeof(float);
  printf("%-6s best %7.2f  median %7.2f GB/s, asking %ld and %ld bytes ahead", name, gigabytes / seconds[0],
         gigabytes / seconds[repeats / 2], way.first, way.second);
  if (kernel == read_all) printf(" in %d stream%s", way.streams, way.streams == 1 ? "" : "s");
  printf("\n");
  free(seconds);
}

int main(int argc, char** argv) {
  n = (argc > 1 ? atol(argv[1]) : 256) * (1L << 20) / (long)sizeof(float);
  nt = argc <= 2 || strcmp(argv[2], "plain") != 0;
  const int repeats = argc > 3 ? atoi(argv[3]) : 30;
  if (argc > 4) only = argv[4];
  a = array();
  b = array();
  c = array();
  printf("%d threads, %.0f MiB each, %s stores\n", omp_get_max_threads(), (double)n * 4 / (1 << 20), nt ? "nt" : "plain");
  report("read", read_all, 1, repeats);
  report("write", write_kernel, 1, repeats);
  report("copy", copy, 2, repeats);
  report("triad", triad, 3, repeats);
  return 0;
}
