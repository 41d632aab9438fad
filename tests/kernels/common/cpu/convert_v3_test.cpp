// With AVX2 and F16C.
#if defined(__x86_64__)
#define RIDGEBENCH_ISA v3
#define RIDGEBENCH_ISA_LEVEL 3
#define CONVERT ConvertV3
#include "tests/kernels/common/cpu/convert_checks.hpp"
#endif
