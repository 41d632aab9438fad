// RIDGEBENCH_CLONES before a function: the compiler makes it for several instruction sets, and the
// loader chooses. GCC 11 has no dispatcher for the levels of x86-64, and clang's code does without
// clones.
#pragma once

#if !defined(__x86_64__) || defined(__clang__)
#define RIDGEBENCH_CLONES
#elif __GNUC__ < 12
#define RIDGEBENCH_CLONES [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define RIDGEBENCH_CLONES [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#endif
