// On any processor.
#define RIDGEPOINT_ISA none
#define RIDGEPOINT_ISA_LEVEL 0
#define CONVERT Convert
#include "tests/kernels/common/cpu/convert_checks.hpp"
