// target_begin.hpp for ARM's SVE, whose registers have no width that a compiler knows, so that the
// code is its own: the build compiles the including .cpp for SVE only.

#include "kernels/common/cpu/target_begin.hpp"
