// ldmatrix: a warp reads four 8 x 8 matrices of 16-bit numbers from shared memory straight into the
// fragments of mma.sync (mma.cuh). Source: PTX ISA, "Warp-level matrix load instruction".
//
// Lane l gives the address of row l % 8 of matrix l / 8: 16 bytes, aligned to 16. Word i of lane l
// is then, of matrix i, row l / 4 and columns 2 (l % 4) and the next, the first in the low half;
// transposed, column l / 4 and rows 2 (l % 4) and the next. A row may as well hold four 32-bit
// numbers or sixteen 8-bit ones: untransposed, the instruction only moves words. Eight rows whose
// addresses modulo 128 differ are read without bank conflicts.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/cuda/ptx/shared_address.cuh"

namespace ridgebench::cuda {

// Every lane of the warp must call it.
template <bool kTransposed>
__device__ void ldmatrix_x4(std::uint32_t (&word)[4], const void* row) {
  const std::uint32_t address = shared_address(row);
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(address)
                 : "memory");
  }
}

}  // namespace ridgebench::cuda
