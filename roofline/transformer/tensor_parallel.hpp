// Tensor parallelism: every rank computes a part of each layer, and the ranks sum their outputs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "roofline/transformer/transformer.hpp"

namespace ridgebench {

// Returns what one of `ranks` ranks holds and computes of a model: its share of the heads, of the
// outputs of networks, and of the vocabulary, which is filled up to a multiple of the ranks. Fewer
// heads of keys and values than ranks are on several ranks each. The residual stream, its routers
// and learned positions are on every rank. Source: Shoeybi et al., arXiv 1909.08053, section 3.
// Throws UsageError, which names the option of the ranks, if they do not divide the heads or the
// width of a network, and for layers that are no plain attention or networks.
Transformer shard_of(const Transformer& model, std::int64_t ranks, std::string_view option);

// A collective of collectives.hpp in which all ranks take part.
struct Exchange {
  std::string_view what;
  std::string_view collective;
  double times;
  double message_bytes;  // of one of them

  [[nodiscard]] double sent_bytes(std::int64_t ranks) const;  // by a rank, in all of them
};

// The collectives of a pass, by the scheme of Megatron-LM (Shoeybi et al., section 3).
// `shard` is that of one rank, the residual stream has `element_bytes`. An all-reduce sums the
// stream after each attention, after each network, and after the look-up in the embedding, of which
// each rank has a part of the vocabulary. An all-gather collects the logits of `rows` tokens, each
// a row over the filled-up vocabulary, in the format of the stream.
std::vector<Exchange> exchanges_of_inference(const Transformer& shard, std::int64_t ranks,
                                             double tokens, double rows, double element_bytes);

// The same for forward and backward pass: four sums a layer, one of the embedding and one of the
// gradient of the head's input. Logits stay where they are: cross entropy sums three fp32 numbers a
// token, the largest logit, that of the label and the sum of exponentials
// (Megatron-LM, core/tensor_parallel/cross_entropy.py). With sequence parallelism a sum is a
// reduce-scatter and an all-gather, which send as much.
std::vector<Exchange> exchanges_of_training(const Transformer& shard, double tokens,
                                            double element_bytes);

// The sums over `exchanges` of the bytes that a rank sends.
double sent_bytes(const std::vector<Exchange>& exchanges, std::int64_t ranks);

}  // namespace ridgebench
