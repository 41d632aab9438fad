// A training step of a network of equal layers, h_l = act(h_{l-1} W_l^T), with the cross entropy of
// its last output as loss.
//
// Layouts of the products: the forward pass `nt`, dH = dZ W `nn`, dW = dZ^T h `tn`; the first layer
// needs no dH. Backward passes release what they no longer need as soon as they can.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/step/step_program.hpp"
#include "kernels/common/enum_names.hpp"

namespace ridgebench {

enum class Activation : std::uint8_t { relu, gelu };
constexpr auto names_of(Activation) { return enum_names("activation", "relu", "gelu"); }

enum class Optimizer : std::uint8_t { adamw, sgd, momentum, lion };
constexpr auto names_of(Optimizer) {
  return enum_names("optimizer", "adamw", "sgd", "momentum", "lion");
}

// How a step clears its gradients. none: the first micro-batch writes them, later ones add to them.
// fill: the step sets them to zero at its end, and each micro-batch adds to them.
enum class ZeroGrad : std::uint8_t { none, fill };
constexpr auto names_of(ZeroGrad) { return enum_names("zero-grad", "none", "fill"); }

// Activations that stay for the backward pass.
//   none   everything
//   every  the input of every segment of `layers` layers; each segment is computed again whole
//   full   the input of the network, and the last layer; each other layer is computed again from
//          the input
struct Checkpointing {
  enum class Way : std::uint8_t { none, every, full };
  Way way = Way::none;
  std::int64_t layers = 0;  // of a segment
};

// Reads none, sqrt, layer, full or every:K for a network of so many layers, as plan/network.hpp
// defines them. Throws UsageError.
Checkpointing parse_checkpointing(const std::string& text, std::int64_t layers);

struct TrainingStep {
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t batch = 0;  // rows
  Activation activation = Activation::relu;
  Optimizer optimizer = Optimizer::adamw;
  Format format = Format::bf16;  // of parameters, gradients and activations
  bool master = false;           // an fp32 copy of the parameters
  Checkpointing checkpoint = {};
  std::int64_t micro_batches = 1;
  ZeroGrad zero_grad = ZeroGrad::none;

  // Rows of a micro-batch. If their number does not divide the batch, the first ones have a row
  // less than the others.
  [[nodiscard]] std::int64_t rows(std::int64_t part) const;
  // The first layer of each segment, counted from 0; one segment without checkpoints.
  [[nodiscard]] std::vector<std::int64_t> segments() const;
  // 6 x parameters x rows: the FLOPs that the model needs, by convention.
  [[nodiscard]] double model_flops() const;
  // FLOPs of the products that the step executes: (6L - 2) B D^2, and 2 B D^2 for each layer that
  // is computed again.
  [[nodiscard]] double executed_flops() const;
};

// Limits of a step: its launches, which a record lists, and layers x batch x width^2, below which
// FLOPs, elements and bytes are exact in 64 bits.
inline constexpr double kMostStepLaunches = 1e5;
inline constexpr double kLargestStep = 0x1p58;

// Throws UsageError for formats other than fp32, fp16 and bf16, in which a step has no operations;
// `of_fp8` is why fp8 is none.
void check_step_format(Format format, std::string_view of_fp8);

// Throws UsageError for sizes below 1 or above those limits, more micro-batches than rows, formats
// other than fp32, fp16 and bf16, and a master copy of fp32 parameters.
void check(const TrainingStep& step);

// The most bytes that live at once, by the closed form: the state and
// roofline/plan/step_memory.hpp.
std::int64_t predicted_peak_bytes(const TrainingStep& step);
// The bytes that live at each launch, by the closed form of its layer there. The step must pass
// check().
std::vector<std::int64_t> predicted_live_bytes(const TrainingStep& step);

// The launches of the step and the lifetimes of its tensors. The step must pass check().
StepProgram training_program(const TrainingStep& step);

}  // namespace ridgebench
