// Pointers through the shared memory of the thread's own block, as distances from its first node.
// The limit is the latency of one load from shared memory.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/latency/pointer_chase.hpp"

namespace ridgebench::cuda::latency_own_block {

constexpr int kThreads = 256;

struct alignas(kChaseLineBytes) Node {
  std::uint32_t next;
  std::int32_t step;
};

__global__ void __launch_bounds__(kThreads)
    pointer_chase_own_block(ChaseOrder order, int accesses, std::int32_t* distance) {
  __shared__ Node nodes[kSharedChaseLines];
  for (std::int64_t k = threadIdx.x; k < order.nodes; k += kThreads) {
    const std::int64_t next = chase_offset(order.place(order.after(k)), 1);
    nodes[order.place(k)] = {static_cast<std::uint32_t>(next), static_cast<std::int32_t>(k)};
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const auto* const memory = reinterpret_cast<const std::byte*>(nodes);
  auto at = static_cast<std::uint32_t>(chase_offset(order.place(0), 1));
#pragma unroll 16
  for (int i = 0; i < accesses; ++i) at = *reinterpret_cast<const std::uint32_t*>(memory + at);
  *distance = nodes[at / sizeof(Node)].step;
}

Launch bind(Queue& queue, const Shape& shape, std::int32_t* distance) {
  return [=, order = ChaseOrder(shape["lines"]), accesses = static_cast<int>(shape["accesses"]),
          stream = stream_of(queue)] {
    pointer_chase_own_block<<<1, kThreads, 0, stream>>>(order, accesses, distance);
  };
}

const Registration own_block{
    {.operation = "pointer_chase_shared",
     .name = "own_block",
     .engine = Engine::memory,
     .supports = [](const Machine&, const Shape& s, FormatPair) { return shared_chase_limit(s); }},
    bind};

}  // namespace ridgebench::cuda::latency_own_block
