// Activations that the backward pass of a network needs, in bytes of one micro-batch, and
// what checkpointing leaves of it.
#pragma once

#include <array>
#include <string_view>

#include "roofline/plan/plan.hpp"

namespace ridgebench {

// A layer's output is the input of the next layer. `all_inside` is what all layers keep without
// checkpointing, their inputs or outputs included, and `largest_inside` that of the largest layer.
// `head` is what follows the last layer; it is never recomputed.
struct NetworkBytes {
  double layers;
  double output;  // of one layer
  double all_inside;
  double largest_inside;
  double head = 0;
};

// The network of a question for `rows` rows of a micro-batch.
//
// Plain layers keep rows x width outputs, and as many pre-activations if the question says so. A
// transformer's layer keeps, per token, the inputs of both norms and of all linear layers, q, k, v
// and what the activation function needs: 16 h elements in GPT-2's form. Fused attention keeps no
// scores. The head keeps the norm's input and output and the logits in fp32. Source: Korthikanti et
// al., arXiv 2205.05198, sections 4.1 and 4.3, without the masks of dropout, and without copies of
// tokens for experts.
NetworkBytes network_bytes(const ActivationQuestion& question, double rows);

// Activations in memory at once with a kind of checkpointing:
//   none   all layers
//   layer  the output of each layer; the backward pass computes one layer again at a time
//   sqrt   the output of every sqrt(layers)-th layer; one segment at a time is computed again
//          (Chen et al., arXiv 1604.06174)
//   full   only the input of the network: for each layer the backward pass computes all layers
//          before it again, layers (layers - 1) / 2 in all: O(1) memory, O(layers^2) arithmetic
//   every:K  as sqrt, with segments of K layers
// Where a way saves nothing, all layers stay and nothing is computed again.
inline constexpr std::array<std::string_view, 4> kCheckpoints{"none", "layer", "sqrt", "full"};

// The layers of a segment: 1 for layer, K for every:K, and for sqrt the layers over their root,
// both rounded up. Throws UsageError for another way.
double segment_length(std::string_view checkpoint, double layers);

struct Kept {
  double checkpoints = 0;         // layer outputs that stay, or the input of the network
  double recomputed = 0;          // layers that are computed again and in memory at once
  double recomputed_outputs = 0;  // their outputs that are no checkpoints
  double extra_forwards = 0;      // passes over all layers
  double bytes = 0;               // with the head
};
Kept kept_bytes(const NetworkBytes& network, std::string_view checkpoint);

inline constexpr double kDefaultContext = 4096;  // tokens of a model's sequence

// The context_note of a question with a model; empty without one.
std::string context_note(const ActivationQuestion& question);

// Checks sizes and fills in the defaults of a question. Throws UsageError.
ActivationQuestion checked(ActivationQuestion question);

// The rows of the largest micro-batch of a checked question: ceil(batch / micro-batches).
double micro_batch_rows(const ActivationQuestion& question);
// The number of micro-batches, the first ones, that have a row less than the largest. It is 0 if
// the micro-batches divide the batch.
double smaller_micro_batches(double batch, double micro_batches);

// The inputs of a checked question, and the parts of its answer.
PlanAnswer activation_inputs(const ActivationQuestion& question);
PlanAnswer activation_terms(const ActivationQuestion& question, const NetworkBytes& network,
                            const Kept& kept);

}  // namespace ridgebench
