// Bulk copies of bytes in a row between global and shared memory: one thread starts a copy, and the
// copy engine of TMA does it without registers. Addresses and sizes are multiples of 16. tma.cuh
// has the groups of stores. Compute capability 9.0. Source: PTX ISA, "cp.async.bulk".
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/cuda/ptx/barrier.cuh"
#include "kernels/common/cuda/ptx/shared_memory.cuh"

namespace ridgebench::cuda {

// Starts to load; the bytes count towards the current phase of `full`.
__device__ inline void cp_async_bulk_load(void* shared, const void* global, int bytes,
                                          Barrier& full) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(shared)),
      "l"(global), "r"(bytes), "r"(shared_address(&full))
      : "memory");
}

// Starts to store. The same thread must commit the group and wait for it.
__device__ inline void cp_async_bulk_store(void* global, const void* shared, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
}

}  // namespace ridgebench::cuda
