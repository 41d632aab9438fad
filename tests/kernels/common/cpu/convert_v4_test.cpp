// With AVX-512.
#if defined(__x86_64__)
#define RIDGEBENCH_ISA v4
#define RIDGEBENCH_ISA_LEVEL 4
#define CONVERT ConvertV4
#include "tests/kernels/common/cpu/convert_checks.hpp"
#endif
