// The barriers between the thread that loads a ring of stages by TMA and the warps that use them:
// a stage is full when all its bytes have come, and empty when all who use it have released it.
#pragma once

#include "kernels/common/cuda/ptx/mbarrier.cuh"
#include "kernels/matmul/hopper/ring.hpp"

namespace ridgebench::cuda {

template <int kStages>
struct TmaPipeline {
  Barrier full[kStages];
  Barrier empty[kStages];

  // One thread, before a barrier of the block or the cluster: `releases` empty a stage.
  __device__ void init(int releases) {
    for (int i = 0; i < kStages; ++i) {
      mbarrier_init(full[i], 1);
      mbarrier_init(empty[i], releases);
    }
    fence_mbarrier_init();
  }

  // The loading thread: waits until the stage is empty and announces what will be loaded. Returns
  // the barrier for those loads.
  __device__ Barrier& claim(const PipelineState<kStages>& ring, int bytes) {
    mbarrier_wait_parity(empty[ring.stage], ring.parity ^ 1U);
    mbarrier_arrive_expect_tx(full[ring.stage], bytes);
    return full[ring.stage];
  }

  __device__ void wait_full(const PipelineState<kStages>& ring) {
    mbarrier_wait_parity(full[ring.stage], ring.parity);
  }
};

}  // namespace ridgebench::cuda
