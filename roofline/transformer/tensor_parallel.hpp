// Tensor parallelism: every rank computes a part of each layer, and the ranks sum their outputs.
#pragma once

#include <cstdint>
#include <string_view>

#include "roofline/transformer/transformer.hpp"

namespace ridgebench {

// Returns what one of `ranks` ranks holds and computes of a model: its share of the heads, of the
// outputs of networks, and of the vocabulary, which is filled up to a multiple of the ranks. Fewer
// heads of keys and values than ranks are on several ranks each. The residual stream, its routers
// and learned positions are on every rank. Source: Shoeybi et al., arXiv 1909.08053, section 3.
// Throws UsageError, which names the option of the ranks, if they do not divide the heads or the
// width of a network, and for layers that are no plain attention or networks.
Transformer shard_of(const Transformer& model, std::int64_t ranks, std::string_view option);

// Sums over all ranks of the residual stream in a forward pass: after each attention, and after
// each network.
double sums_in_forward_pass(const Transformer& model);

}  // namespace ridgebench
