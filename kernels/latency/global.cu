// Pointers through global memory: a thread loads the address of its next load, through level 1,
// level 2 or main memory as the size of the chain decides. The limit is the latency of one load,
// and that of address translation where the chain spans more pages than its buffers hold.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/shared_memory.cuh"
#include "kernels/latency/pointer_chase.hpp"

namespace ridgebench::cuda::latency_global {

constexpr int kThreads = 256;

__global__ void pointer_chase_link(ChaseOrder order, std::int64_t stride, std::byte* nodes,
                                   const ChaseNode** at) {
  const std::int64_t step = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (step >= order.nodes) return;
  const auto node = [&](std::int64_t k) {
    return reinterpret_cast<ChaseNode*>(nodes + chase_offset(order.place(k), stride));
  };
  *node(step) = {node(order.after(step)), step};
  if (step == 0) *at = node(0);
}

// The pointer to the current node outlives the launch: from a fixed start, every launch would visit
// the same nodes and find them in a cache.
__global__ void pointer_chase_global(const ChaseNode** at, std::int64_t nodes, int accesses,
                                     std::int32_t* distance) {
  const ChaseNode* node = *at;
  const std::int64_t first = node->step;
#pragma unroll 16
  for (int i = 0; i < accesses; ++i) node = ld_global(&node->next);
  *at = node;
  *distance = static_cast<std::int32_t>((node->step - first + nodes) % nodes);
}

struct Chain {
  std::shared_ptr<void> nodes;
  std::shared_ptr<void> at;
};

Chain link(Queue& queue, const Shape& shape) {
  const ChaseOrder order(shape["lines"]);
  const std::int64_t bytes = chase_offset(order.nodes, shape["stride"]);
  Chain chain{queue.allocate(static_cast<std::size_t>(bytes)),
              queue.allocate(sizeof(const ChaseNode*))};
  pointer_chase_link<<<blocks_for(order.nodes, kThreads), kThreads, 0, stream_of(queue)>>>(
      order, shape["stride"], static_cast<std::byte*>(chain.nodes.get()),
      static_cast<const ChaseNode**>(chain.at.get()));
  return chain;
}

Launch bind(Queue& queue, const Chain& chain, const Shape& shape, std::int32_t* distance) {
  auto* const at = static_cast<const ChaseNode**>(chain.at.get());
  return [=, nodes = shape["lines"], accesses = static_cast<int>(shape["accesses"]),
          stream = stream_of(queue)] {
    pointer_chase_global<<<1, 1, 0, stream>>>(at, nodes, accesses, distance);
  };
}

const Registration global{
    {.operation = "pointer_chase",
     .name = "global",
     .engine = Engine::memory,
     .supports = [](const Machine&, const Shape& s, FormatPair) { return chase_limit(s); }},
    planned(link, bind)};

}  // namespace ridgebench::cuda::latency_global
