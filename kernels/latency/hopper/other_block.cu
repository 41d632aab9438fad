// Pointers through the shared memory of the other block of a cluster of two (distributed shared
// memory). The limit is the latency of one load through the network between SMs.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/barrier.cuh"
#include "kernels/latency/pointer_chase.hpp"

namespace ridgebench::cuda::latency_other_block {

constexpr int kThreads = 256;
constexpr unsigned kBlocks = 2;

// The block of rank 1 holds the chain, and a thread of rank 0 follows it.
__global__ void __launch_bounds__(kThreads)
    pointer_chase_other_block(ChaseOrder order, int accesses, std::int32_t* distance) {
  alignas(kChaseLineBytes) extern __shared__ std::byte own[];
  const auto offset = [&](std::int64_t k) { return chase_offset(order.place(k), 1); };
  const auto remote = [&](std::int64_t k) {
    return reinterpret_cast<const ChaseNode*>(mapa_generic(own + offset(k), 1));
  };
  if (cluster_ctarank() == 1) {
    for (std::int64_t k = threadIdx.x; k < order.nodes; k += kThreads) {
      *reinterpret_cast<ChaseNode*>(own + offset(k)) = {remote(order.after(k)), k};
    }
  }
  cluster_sync();
  if (cluster_ctarank() == 0 && threadIdx.x == 0) {
    const ChaseNode* node = remote(0);
#pragma unroll 16
    for (int i = 0; i < accesses; ++i) node = node->next;
    *distance = static_cast<std::int32_t>(node->step);
  }
  cluster_sync();  // the memory of a block is there until it ends
}

Launch bind(Queue& queue, const Shape& shape, std::int32_t* distance) {
  const ChaseOrder order(shape["lines"]);
  const ClusterGrid grid{.blocks = dim3(kBlocks),
                         .threads = kThreads,
                         .shared_bytes = static_cast<int>(chase_offset(order.nodes, 1)),
                         .stream = stream_of(queue),
                         .cluster = kBlocks};
  return [=, accesses = static_cast<int>(shape["accesses"])] {
    launch(pointer_chase_other_block, grid, order, accesses, distance);
  };
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  if (machine.compute_capability != 90) return "runs on compute capability 9.0 only";
  return shared_chase_limit(shape);
}

const Registration other_block{{.operation = "pointer_chase_shared",
                                .name = "other_block",
                                .engine = Engine::memory,
                                .supports = supports},
                               bind};

}  // namespace ridgebench::cuda::latency_other_block
