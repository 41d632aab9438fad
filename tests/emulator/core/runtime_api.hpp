// What the functions of the CUDA runtime were told.
#pragma once

#include <cstddef>

namespace ridgebench::emulator {

// Dynamic shared memory that the kernel at an address may have: cudaFuncSetAttribute.
std::size_t most_dynamic_bytes(const void* kernel);

}  // namespace ridgebench::emulator
