// Warpgroups, four neighbouring warps, and clusters, blocks that run at once and reach each other's
// shared memory. Sources: PTX ISA, "setmaxnreg", "bar", "barrier.cluster"; special registers.
#pragma once

#include <cuda_runtime.h>

namespace ridgebench::cuda {

inline constexpr int kWarpgroup = 128;

// All warps of a warpgroup, once: its threads keep or get this many registers each. A multiple of 8
// from 24 to 256; what all warpgroups of a block hold must not exceed what it was launched with
// (168 a thread for 384 threads), or an increase waits for ever.
template <int kRegisters>
__device__ void warpgroup_reg_dealloc() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ void warpgroup_reg_alloc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// Named barrier `id`, 1 to 15, of the threads of one warpgroup (0 is __syncthreads()).
__device__ inline void named_barrier_sync(int id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(kWarpgroup) : "memory");
}

// Number of this block in its cluster, and how many there are.
__device__ inline unsigned cluster_ctarank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline unsigned cluster_nctarank() {
  unsigned size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}

// Number of the calling thread's warpgroup in its block, known to be the same for a whole warp.
__device__ inline int warpgroup_index() {
  return __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
}

// All threads of all blocks of the cluster have come here; what they wrote before is visible.
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same where nothing that was written need be visible, which spares a flush to the L2 cache.
__device__ inline void cluster_sync_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

}  // namespace ridgebench::cuda
