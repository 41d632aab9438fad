// stmatrix, the counterpart of ldmatrix: a warp writes four 8 x 8 matrices of 16-bit numbers to
// shared memory. Source: PTX ISA, "Warp-level matrix store instruction". Lane l gives the address
// of row l % 8 of matrix l / 8: 16 bytes, aligned to 16. Word i of lane l holds of matrix i row
// l / 4, columns 2 (l % 4) and the next, the first in the low half: as wgmma leaves its sums.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/cuda/ptx/shared_address.cuh"

namespace ridgebench::cuda {

// Every lane of the warp must call it.
__device__ inline void stmatrix_x4(void* row, const std::uint32_t (&word)[4]) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(shared_address(row)),
      "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
      : "memory");
}

}  // namespace ridgebench::cuda
