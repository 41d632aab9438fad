// Synchronisation on Hopper: mbarriers, named barriers of a warpgroup, barriers of a cluster,
// setmaxnreg and programmatic dependent launch. CUTLASS has the same in arch/barrier.h,
// arch/reg_reconfig.h and arch/grid_dependency_control.h. Compute capability 9.0.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/cuda/ptx/shared_memory.cuh"

namespace ridgebench::cuda {

// A warpgroup is four consecutive warps, the first of which has a number that is a multiple of 4.
inline constexpr int kWarpgroup = 128;

// An mbarrier object in shared memory. A phase completes when all its arrivals and all the bytes
// that it expects have come, and the next phase begins at once. Phases alternate in parity: in a
// fresh mbarrier phase 0 is incomplete, so a wait for parity 1 returns at once. Source: PTX ISA,
// "mbarrier".
using Barrier = std::uint64_t;

// Called by one thread before any other uses the barrier: a phase takes `arrivals` arrivals.
__device__ inline void mbarrier_init(Barrier& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(arrivals)
               : "memory");
}

// Makes the initialised barriers visible to TMA and to the other blocks of the cluster. The thread
// that initialised them calls it before the block or the cluster synchronises.
__device__ inline void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void mbarrier_arrive(Barrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
               : "memory");
}

// Arrives at the barrier at the same offset in block `rank` of the cluster. The arrival releases to
// this block only: a release to the cluster would flush the thread's writes to L2 each time.
__device__ inline void mbarrier_arrive_cluster(Barrier& barrier, unsigned rank) {
  const std::uint32_t remote = mapa(&barrier, rank);
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
}

// Arrives, and adds to the bytes that the phase expects.
__device__ inline void mbarrier_arrive_expect_tx(Barrier& barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
}

// True if the phase of this parity has completed; returns false after a time that the hardware
// chooses.
__device__ inline bool mbarrier_try_wait_parity(Barrier& barrier, unsigned parity) {
  std::uint32_t complete;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
      "selp.u32 %0, 1, 0, p; }"
      : "=r"(complete)
      : "r"(shared_address(&barrier)), "r"(parity)
      : "memory");
  return complete != 0;
}

// Waits until the phase of this parity has completed. Afterwards the thread sees what TMA wrote and
// what other threads did before they arrived. A debug build traps instead of hanging.
__device__ inline void mbarrier_wait_parity(Barrier& barrier, unsigned parity) {
#ifdef NDEBUG
  while (!mbarrier_try_wait_parity(barrier, parity)) {
  }
#else
  for (int tries = 0; !mbarrier_try_wait_parity(barrier, parity); ++tries) {
    if (tries == 1 << 24) __trap();
  }
#endif
}

// Orders a thread's own accesses to shared memory before later accesses by TMA and wgmma (the async
// proxy). Every thread that wrote calls it, before a barrier lets TMA or wgmma read. Source: PTX
// ISA, "fence.proxy.async".
__device__ inline void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Named barrier `id`, 1 to 15 (0 is __syncthreads()), for whole warps with kThreads threads in all.
// Threads that arrive do not wait for the others. Source: PTX ISA, "bar.sync", "bar.arrive".
template <int kThreads = kWarpgroup>
__device__ void named_barrier_sync(int id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(kThreads) : "memory");
}
template <int kThreads>
__device__ void named_barrier_arrive(int id) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(kThreads) : "memory");
}

// The calling thread's warpgroup in its block. The shuffle tells the compiler that the value is the
// same for a whole warp.
__device__ inline int warpgroup_index() {
  return __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
}

// setmaxnreg: lowers or raises the registers per thread of a warpgroup. All its warps call it once.
// The value is a multiple of 8 from 24 to 256. The sum over all warpgroups must not exceed the
// registers that the block was launched with (168 per thread for 384 threads), or a raise waits for
// ever. Source: PTX ISA, "setmaxnreg".
template <int kRegisters>
__device__ void warpgroup_reg_dealloc() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ void warpgroup_reg_alloc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// blockIdx.x, read anew by each call: unlike the variable it takes no register between two. Source:
// PTX ISA, %ctaid.
__device__ inline int ctaid_x() {
  int block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
}

// Rank of this block in its cluster, and blocks per cluster. Source: PTX ISA, %cluster_ctarank and
// %cluster_nctarank.
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

// Waits for all threads of the cluster; what they wrote before is visible afterwards. Source: PTX
// ISA, "barrier.cluster".
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same without the release, which saves a flush to L2: earlier writes need not be visible.
__device__ inline void cluster_sync_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Programmatic dependent launch. The next kernel in the stream may start once all blocks of this
// one have called the first; the second waits until the kernel before this one has completed and
// its writes are visible. Source: PTX ISA, "griddepcontrol".
__device__ inline void griddepcontrol_launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__device__ inline void griddepcontrol_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

}  // namespace ridgebench::cuda
