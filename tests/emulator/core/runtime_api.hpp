// Settings made by functions of the CUDA runtime.
#pragma once

#include <cstddef>

namespace ridgebench::emulator {

// The limit of dynamic shared memory of the kernel at an address: cudaFuncSetAttribute.
std::size_t most_dynamic_bytes(const void* kernel);

}  // namespace ridgebench::emulator
