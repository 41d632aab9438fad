// Stands in for OpenBLAS's common.h, so that its own benchmark (benchmark/gemm.c of its sources)
// compiles without the rest of them. The loop and the timing are theirs; before each measurement
// the process stops itself until it is continued, as `ridgebench run --take-turns` does.
#include <ctype.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef float IFLOAT, FLOAT;
typedef int blasint;
typedef long BLASLONG;
#define COMPSIZE 1
#define BLASFUNC(name) name##_
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define TOUPPER(letter) ((letter) = (char)toupper(letter))
void sgemm_(char*, char*, blasint*, blasint*, blasint*, float*, float*, blasint*, float*, blasint*,
            float*, float*, blasint*);

// bench.h reads the clock into `start` and, at the end, into `stop`.
#define clock_gettime(clock, into) \
  ((into) == &start ? kill(0, SIGSTOP) : 0, clock_gettime(clock, into))
