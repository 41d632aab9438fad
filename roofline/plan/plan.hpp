// Resource accounting before anything is bought or run: the napkin questions of docs/lecture.md.
//
// Each function returns its inputs, then flops, days, parameters, bytes and bytes_per_parameter as
// they apply, and `terms`, the parts that make up the answer: {name, value, unit}. Units: FLOP,
// FLOP/s, byte, day, and 1 for counts. Each throws UsageError for inputs that make no sense.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kernels/common/format.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

using PlanAnswer = nlohmann::ordered_json;

// How long a training run takes, or how many FLOPs fit into given days. The work is `flops`, or
// 6 x parameters x tokens (forward 2, backward 4), or what gpus do in `days`. Without a device only
// the work is answered.
struct TrainQuestion {
  std::optional<double> parameters = std::nullopt;
  std::optional<double> tokens = std::nullopt;
  std::optional<double> flops = std::nullopt;
  std::optional<double> days = std::nullopt;
  std::optional<double> gpus = std::nullopt;  // 1 unless given
  std::optional<double> mfu = std::nullopt;
  std::optional<std::string> mfu_row = std::nullopt;  // id of the row that measured the MFU
  Format format = Format::bf16;
};
PlanAnswer plan_train(const TrainQuestion& question, const Roofs* device);

// Memory of parameters, gradients and optimizer states. Activations are not counted, so a largest
// model is an upper bound. precision: bf16, fp32, bf16-master (fp32 master copy); optimizer: none
// (inference), sgd, momentum, adagrad, rmsprop, adam, adamw, with fp32 states.
struct StateQuestion {
  std::string precision = "bf16";
  std::string optimizer = "adamw";
  std::optional<double> parameters =
      std::nullopt;  // empty: the largest number that fits the device
};

// On all GPUs together: the bytes of a model, or the largest model.
PlanAnswer plan_memory(const StateQuestion& question, std::optional<double> gpus,
                       const Roofs* device);

// Per rank under ZeRO, which shards optimizer states (stage 1), also gradients (2), also parameters
// (3) over the ranks. Source: Rajbhandari et al., arXiv 1910.02054, figure 1.
PlanAnswer plan_zero(const StateQuestion& question, double stage, double ranks,
                     const Roofs* device);

// Bytes of one dense tensor, and whether it fits the device; shape is sizes joined by x:
// "49152x12288".
PlanAnswer plan_tensor(const std::string& shape, Format format, const Roofs* device = nullptr);

// Activations kept for the backward pass of `layers` layers that each put out batch x width values.
// checkpoint: none (keep all) or sqrt (keep every sqrt(layers)-th, recompute one segment at a time
// with one more forward pass; Chen et al., arXiv 1604.06174).
struct ActivationQuestion {
  double layers = 0;
  double width = 0;
  double batch = 0;
  double micro_batches = 1;      // gradient accumulation: one micro-batch lives at a time
  bool pre_activations = false;  // keep the values before the nonlinearity too
  std::string checkpoint = "none";
  Format format = Format::bf16;
};
PlanAnswer plan_activations(const ActivationQuestion& question, const Roofs* device = nullptr);

}  // namespace ridgebench
