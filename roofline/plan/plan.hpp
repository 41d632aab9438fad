// Computes the time and the memory of a training run before the run (docs/lecture.md).
//
// Each function returns its inputs, then flops, days, parameters, bytes and bytes_per_parameter as
// they apply, and `terms`, the parts of the answer: {name, value, unit}. Units are FLOP, FLOP/s,
// byte, day, and 1 for counts. `note` says what an answer leaves out. Each function throws
// UsageError for inputs out of range.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kernels/common/format.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

using PlanAnswer = nlohmann::ordered_json;

// Computes how long a training run takes, or how many FLOPs fit into given days. The work is
// `flops`, 6 x parameters x tokens (forward 2, backward 4), or the FLOPs that the GPUs do in
// `days`. Without a device the answer holds the work only. The MFU is a share of the dense peak
// that the device's data sheet promises; on a device without a data sheet it is a share of the
// measured peak, and a note says so.
struct TrainQuestion {
  std::optional<double> parameters = std::nullopt;
  std::optional<double> tokens = std::nullopt;
  std::optional<double> flops = std::nullopt;
  std::optional<double> days = std::nullopt;
  std::optional<double> gpus = std::nullopt;  // 1 unless given
  std::optional<double> mfu = std::nullopt;
  std::optional<std::string> mfu_row = std::nullopt;  // id of the row that measured the MFU
  std::string mfu_sheet = {};  // the data sheet whose peak that row's MFU is a share of
  FormatPair format = Format::bf16;
};
PlanAnswer plan_train(const TrainQuestion& question, const Roofs* device);

// The memory of parameters, gradients and optimizer states. The plans do not count activations, so
// a largest model is an upper bound. precision: bf16, fp32, bf16-master (fp32 master copy);
// optimizer: none (inference), sgd, momentum, adagrad, rmsprop, adam, adamw, with fp32 states.
struct StateQuestion {
  std::string precision = "bf16";
  std::string optimizer = "adamw";
  std::optional<double> parameters = std::nullopt;  // empty: the largest that fits
};

// Computes the bytes of a model, or the largest model that fits all GPUs together.
PlanAnswer plan_memory(const StateQuestion& question, std::optional<double> gpus,
                       const Roofs* device);

// Computes the bytes per rank under ZeRO, which shards optimizer states (stage 1), also gradients
// (2) and also parameters (3). Source: Rajbhandari et al., arXiv 1910.02054, figure 1.
PlanAnswer plan_zero(const StateQuestion& question, double stage, double ranks,
                     const Roofs* device);

// Computes the bytes of one dense tensor, and whether it fits the device. The shape is sizes joined
// by x: "49152x12288". The format is one of kFormats or fp4, which has a scale for each block.
PlanAnswer plan_tensor(const std::string& shape, const std::string& format,
                       const Roofs* device = nullptr);

// The activations that the backward pass of `layers` layers needs. Each layer has batch x width
// outputs. checkpoint none keeps all outputs. checkpoint sqrt keeps the output of every
// sqrt(layers)-th layer and recomputes one segment at a time with one more forward pass (Chen et
// al., arXiv 1604.06174). For few layers that would save nothing, and the plan keeps all outputs.
struct ActivationQuestion {
  double layers = 0;
  double width = 0;
  double batch = 0;
  double micro_batches = 1;      // gradient accumulation keeps one micro-batch at a time
  bool pre_activations = false;  // keep the values before the nonlinearity too
  std::string checkpoint = "none";
  Format format = Format::bf16;
};
PlanAnswer plan_activations(const ActivationQuestion& question, const Roofs* device = nullptr);

}  // namespace ridgebench
