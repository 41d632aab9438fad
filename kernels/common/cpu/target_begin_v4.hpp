// target_begin.hpp for instructions that no processor before x86-64-v4 has (AMX): the build
// compiles the including .cpp for v4 only.

#include "kernels/common/cpu/target_begin.hpp"
