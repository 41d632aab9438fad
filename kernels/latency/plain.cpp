// Pointers through a host's memory: one thread loads the address of its next load. The limit is the
// latency of one load, and that of address translation where the chain spans more pages than its
// buffers hold.
#include "kernels/latency/pointer_chase.hpp"

namespace ridgebench {
namespace {

struct Chain {
  std::shared_ptr<void> nodes;
  std::shared_ptr<const ChaseNode*> at;  // the current node, where the next launch continues
};

Chain link(Queue& queue, const Shape& shape) {
  const ChaseOrder order(shape["lines"]);
  const std::int64_t stride = shape["stride"];
  Chain chain{queue.allocate(static_cast<std::size_t>(chase_offset(order.nodes, stride))), {}};
  const auto node = [&, first = static_cast<std::byte*>(chain.nodes.get())](std::int64_t k) {
    return reinterpret_cast<ChaseNode*>(first + chase_offset(order.place(k), stride));
  };
#pragma omp parallel for num_threads(queue.threads())
  for (std::int64_t k = 0; k < order.nodes; ++k) *node(k) = {node(order.after(k)), k};
  chain.at = std::make_shared<const ChaseNode*>(node(0));
  return chain;
}

Launch bind(Queue&, const Chain& chain, const Shape& shape, std::int32_t* distance) {
  return [=, at = chain.at, nodes = shape["lines"], accesses = shape["accesses"]] {
    const ChaseNode* node = *at;
    const std::int64_t first = node->step;
    for (std::int64_t i = 0; i < accesses; ++i) node = node->next;
    *at = node;
    *distance = static_cast<std::int32_t>((node->step - first + nodes) % nodes);
  };
}

const Registration plain{
    {.operation = "pointer_chase",
     .name = "plain",
     .engine = Engine::memory,
     .supports = [](const Machine&, const Shape& s, FormatPair) { return chase_limit(s); }},
    planned(link, bind)};

}  // namespace
}  // namespace ridgebench
