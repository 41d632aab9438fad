// target_begin.hpp for instructions that no processor before x86-64-v4 has (AMX, AVX512_BF16): the
// build compiles the including .cpp for v4 alone.

#include "kernels/common/cpu/target_begin.hpp"
