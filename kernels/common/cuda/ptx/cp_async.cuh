// cp.async: copies from global to shared memory that bypass the registers and run while the thread
// goes on. Source: PTX ISA, "Non-bulk copy" and its completion mechanism by groups. From compute
// capability 8.0.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/cuda/ptx/shared_address.cuh"

namespace ridgebench::cuda {

// Starts a copy of 16 bytes; both addresses must be aligned to 16 bytes. Unless `inside`, it reads
// nothing and writes zeros.
__device__ inline void cp_async_zfill(void* shared, const void* global, bool inside) {
  const std::uint32_t target = shared_address(shared);
  const int bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(global),
               "r"(bytes)
               : "memory");
}

// Closes the group of the copies that this thread started since the last call; it may be empty.
__device__ inline void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most the `kPending` newest groups of this thread are under way. Other threads see
// the copies after a __syncthreads() that follows.
template <int kPending>
__device__ void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace ridgebench::cuda
