// target_begin.hpp for ARM's SVE, whose registers have no width at compile time, so that the
// code is its own: the build compiles the including .cpp for SVE only.

#include "kernels/common/cpu/target_begin.hpp"
