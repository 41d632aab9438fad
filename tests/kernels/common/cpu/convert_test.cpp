// On any processor.
#define RIDGEBENCH_ISA none
#define RIDGEBENCH_ISA_LEVEL 0
#define CONVERT Convert
#include "tests/kernels/common/cpu/convert_checks.hpp"
