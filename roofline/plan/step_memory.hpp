// Memory of a training step of plain layers beside its state, over the phases of the step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/enum_names.hpp"
#include "roofline/plan/plan.hpp"

namespace ridgebench {

// The network is h_l = act(h_(l-1) W_l^T) for l = 1 .. L, with W_l of width x width, then the cross
// entropy of h_L. An activation function like ReLU needs h_l in its backward pass, one like GELU
// (pre_activations) z_l = h_(l-1) W_l^T. A kernel has its inputs and its output in memory at once,
// and what no later kernel reads is freed. The backward pass computes dz_l from dh_l, then the
// gradient of W_l, then dh_(l-1). Gradients of weights stay allocated. A later micro-batch writes
// its gradient of W_l into a temporary and adds it, and so does the first one where the question
// says so.
//
// `u` is one tensor of rows x width of the largest micro-batch, and the counts below leave out h_0,
// which is a view of the input. If the micro-batches do not divide the batch, the first ones have a
// row less, so that the last one has the peak. The input, its labels (int32) and the loss, an fp32
// number a row, are those of the whole batch. Tensors are rounded up to 256 bytes.
struct StepMemory {
  double u;             // bytes of one output
  double u_less;        // the same of a micro-batch with a row less
  double weight_bytes;  // of the temporary gradient of one layer; 0 without one
  double batch_bytes;   // the input and the labels
  double loss_bytes;
  double segment = 0;  // layers computed again at once, with checkpoints; 0: none, or `full`
  double segments = 0;
  double extra_forwards = 0;  // passes over all layers that the backward pass adds

  // At the peak of the step:
  double outputs;    // h_l and z_l
  double gradients;  // dh_l and dz_l
  bool accumulates;  // the peak is the gradient of a weight of a later micro-batch

  [[nodiscard]] double activation_bytes() const { return batch_bytes + outputs * u; }
  [[nodiscard]] double temporary_bytes() const {
    return gradients * u + loss_bytes + (accumulates ? weight_bytes : 0);
  }
};

// Computes the peak in closed form. F tensors live at once, with h_0, the two gradients and, in the
// forward pass, the temporary z_l: L + 3 without checkpoints (GELU: 2 L + 2), the maximum over
// segments s of n_s layers of s + n_s + 3 (GELU: s + 2 n_s + 2), and 5 for `full` from 2 layers on.
// Where a later micro-batch computes the gradient of a weight, F' + 1 tensors live beside it: F' =
// L (2 L - 1), the maximum of s + n_s (s + 2 n_s - 1), and 2 for `full`. The question is checked
// and has layers and a width. Throws UsageError for an unknown way of checkpointing.
StepMemory step_memory(const ActivationQuestion& question);

// A tensor of a step occupies a multiple of this many bytes.
inline constexpr std::int64_t kTensorAlignment = 256;
constexpr std::int64_t rounded_tensor_bytes(std::int64_t bytes) {
  return round_up(bytes, kTensorAlignment);
}

enum class StepPhase : std::uint8_t { forward, loss, backward, step, zero };
constexpr auto names_of(StepPhase) {
  return enum_names("phase", "forward", "loss", "backward", "step", "zero");
}

// Tensors that live at the same time. step_launches() counts them while one launch runs, and
// step_bands() gives the most of them during a layer, or during a phase without layers. A layer
// that the backward pass computes again belongs to the layer that needs it.
struct StepBand {
  StepPhase phase;
  double layer;  // 0: no layer
  double outputs;
  double gradients;
  bool temporary_weight = false;  // the gradient of a weight that is added to that of the step
  bool row_less = false;          // of a micro-batch with a row less than the largest

  // Without h_0 and what lives during the whole step.
  [[nodiscard]] double bytes(const StepMemory& memory) const {
    return (outputs + gradients) * (row_less ? memory.u_less : memory.u) +
           (temporary_weight ? memory.weight_bytes : 0);
  }
};

// The bands of one micro-batch, then step and zero; of several micro-batches the second, whose
// gradients of weights are temporaries. Their maximum is the peak of step_memory.
std::vector<StepBand> step_bands(const ActivationQuestion& question);

// Each launch of the step in its order, by a closed form of its layer: of every micro-batch two for
// a layer that is computed, product and activation function; the loss; three for a layer's backward
// pass, activation function, gradient of the weight and dh_(l-1), which the first layer does not
// have, and one more that adds the gradient of the weight; then the optimizer's launch of each
// layer, and one that clears its gradient if the question adds gradients. The input and its labels
// live always, and so does the loss.
std::vector<StepBand> step_launches(const ActivationQuestion& question);

}  // namespace ridgebench
