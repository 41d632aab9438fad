// mbarrier: a barrier in shared memory on which threads wait for arrivals, from their own block or
// another of the cluster, and for bytes that TMA brings. Source: PTX ISA, "mbarrier".
//
// A phase ends when all arrivals and all announced bytes have come, and the next begins at once.
// Phases alternate in parity: of a fresh barrier phase 0 is under way, so that a wait for parity 1
// returns at once, as if a phase before it had ended.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/cuda/ptx/shared_address.cuh"

namespace ridgebench::cuda {

using Barrier = std::uint64_t;  // in shared memory

// One thread, before any other uses it: a phase ends after `arrivals` arrivals.
__device__ inline void mbarrier_init(Barrier& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(arrivals)
               : "memory");
}

// The thread that initialised barriers, before a barrier of the block or the cluster lets others
// use them: TMA and other blocks see them too.
__device__ inline void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void mbarrier_arrive(Barrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
               : "memory");
}

// Arrives at the same barrier of block number `rank` of the cluster, releasing to this block only:
// to release to the cluster would flush all the thread's writes to the L2 cache, at each arrival.
__device__ inline void mbarrier_arrive_cluster(Barrier& barrier, unsigned rank) {
  std::uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(shared_address(&barrier)), "r"(rank));
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
}

// Arrives and announces bytes that will come in this phase.
__device__ inline void mbarrier_arrive_expect_tx(Barrier& barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
}

// Whether the phase of this parity has ended; gives up after a time that the hardware chooses.
__device__ inline bool mbarrier_try_wait_parity(Barrier& barrier, unsigned parity) {
  std::uint32_t ended;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
      "selp.u32 %0, 1, 0, p; }"
      : "=r"(ended)
      : "r"(shared_address(&barrier)), "r"(parity)
      : "memory");
  return ended != 0;
}

// What other threads did before they arrived, and what TMA wrote, is visible afterwards. A debug
// build traps instead of hanging.
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

}  // namespace ridgebench::cuda
