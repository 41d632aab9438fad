// Prediction of the roofline model for a transformer.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/common/operation.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/roofs.hpp"
#include "roofline/transformer/transformer.hpp"

namespace ridgebench {

struct TransformerQuestion {
  std::vector<std::int64_t> batches;  // sequences
  std::int64_t context;               // tokens of each sequence
  FormatPair format;                  // of the matrix products' inputs
  // Training has neither of these two.
  std::optional<StoredFormat> weights = std::nullopt;  // of linear layers but lm_head
  std::optional<StoredFormat> cache = std::nullopt;    // of keys and values
  bool training = false;     // else prefill of one sequence, and decode of each batch
  StateQuestion state = {};  // of training; the model has the parameters
  std::int64_t ranks = 1;    // of tensor parallelism, which training does not have
  std::optional<Link> link = std::nullopt;  // between the ranks
};

// The measured operation that computes the scores and the values of decoding in one kernel.
inline constexpr std::string_view kAttentionDecode = "attention_decode";

// The median time in s of a measured operation on a shape: of a matrix product in the format of the
// products, or of kAttentionDecode in that of keys and values; empty if none was measured.
using AchievedTime = std::function<std::optional<double>(std::string_view operation, const Shape&)>;

// Returns the keys of `predict model --json` (docs/models.md) in SI base units; what is unknown is
// null. Each operation takes at least the longer of FLOPs over peak and bytes over bandwidth, by
// the rates that `predict matmul` has. Weights have the format of the products, that of `weights`
// or that of the model's quantization_config; those of a training step have that of the products.
// It also has the work of step_work.hpp and the optimizer's step of plan/state.hpp, and it fits if
// the state and the activations of plan_fits do. With ranks, work, times and memory are those of
// one rank, whose part of the model is that of tensor_parallel.hpp, and communication_bytes is what
// it sends in a phase, of which `communication` has the collectives: {name, collective, times,
// message_bytes of one, bytes that the rank sends in all}. Attention has the output format of the
// products, and so have keys and values without `cache`. Throws UsageError for sizes out of range,
// or if the device lacks a rate.
nlohmann::ordered_json predict_transformer(const Operation& matmul, const Transformer& model,
                                           const TransformerQuestion& question, const Roofs& roofs,
                                           const AchievedTime& achieved);

}  // namespace ridgebench
