// Computes the time and the memory of a training run before the run.
//
// Each function returns its inputs, then flops, days, parameters, bytes and bytes_per_parameter as
// they apply, and `terms`, the parts of the answer: {name, value, unit}. Units are FLOP, FLOP/s,
// byte, byte/s, s, hour, day, W, J, and 1 for counts and for money. `note` says what an answer
// leaves out. Each function throws UsageError for inputs out of range.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kernels/common/format.hpp"
#include "roofline/roofs.hpp"
#include "roofline/transformer/transformer.hpp"

namespace ridgebench {

using PlanAnswer = nlohmann::ordered_json;

// Costs of a run, as far as the prices are known.
struct Costs {
  std::optional<double> watts = std::nullopt;  // of a device; default: the data sheet's TDP
  // Power usage effectiveness: the energy of the site over that of the devices.
  std::optional<double> pue = std::nullopt;                 // 1 unless given
  std::optional<double> price_per_gpu_hour = std::nullopt;  // in any currency
};

// The parameters of a model, and those that one token meets. Without a name there is no model.
struct ModelSize {
  std::string name = {};
  double parameters = 0;
  double active = 0;

  [[nodiscard]] bool given() const { return !name.empty(); }
};

// Work is given once: `flops`, or 6 x parameters x tokens (forward 2, backward 4). Of a model the
// parameters that one token meets count.
struct WorkQuestion {
  std::optional<double> parameters = std::nullopt;
  std::optional<double> tokens = std::nullopt;
  std::optional<double> flops = std::nullopt;
  ModelSize model = {};
  // LoRA: the trained share of the parameters' number, in adapters. The step computes no gradients
  // of the others: 4 FLOPs a frozen parameter and token, and 6 a parameter of an adapter.
  std::optional<double> adapters = std::nullopt;
};

// The memory of parameters, gradients and optimizer states. The plans do not count activations, so
// a largest model is an upper bound. precision: bf16, fp32, bf16-master (fp32 master copy),
// fp32-bf16 (fp32 parameters, bf16 gradients), bf16-lora (frozen bf16 parameters, and `adapters`, a
// share of their number, that are trained), bf16-offload (all but the parameters is on the host,
// host_bytes of each rank), and with the optimizer none any format in which weights are stored
// (roofline/transformer/weights.hpp); optimizer: none (inference), sgd, momentum, adagrad, rmsprop,
// adam, adamw, lion, adafactor, with fp32 states.
struct StateQuestion {
  std::string precision = "bf16";
  std::string optimizer = "adamw";
  std::optional<double> parameters = std::nullopt;  // empty: the largest that fits
  std::optional<double> adapters = std::nullopt;
};

// Computes how long a training run takes, or how many FLOPs fit into given days: those that the
// GPUs do in them. Without a device and a peak the answer holds the work only. The MFU is a share
// of `peak`, in FLOP/s of one device, or else of the dense peak that the device's data sheet
// promises; on a device without a data sheet it is a share of the measured peak, and a note says
// so. `reserve` is the share of the days in which the devices do no work: failures, restarts,
// queues. The answer has gpu_hours and flops_per_day, the mean of all days, with watts energy_j,
// and with a price cost.
//
// With parameters and a device's bandwidth the answer has `optimizer`: the bytes that its step
// reads and writes (plan/state.hpp), and the time of that traffic on one device that holds all
// parameters, time_s, and on all devices that share them, shared_time_s; with `step_tokens`, the
// tokens of a step on all devices, also the number of steps and their days, states shared. The days
// of the run do not add it, because the MFU of a step is a share of its whole time.
struct TrainQuestion {
  WorkQuestion work = {};
  std::optional<double> days = std::nullopt;
  std::optional<double> gpus = std::nullopt;  // 1 unless given
  std::optional<double> mfu = std::nullopt;
  std::optional<std::string> mfu_row = std::nullopt;  // id of the row that measured the MFU
  std::string mfu_sheet = {};   // the data sheet whose peak that row's MFU is a share of
  std::string mfu_remark = {};  // what the note says of that row
  bool mfu_of_step = false;     // the row is a step of training, and not a matmul
  FormatPair format = Format::bf16;
  Costs costs = {};
  std::optional<double> peak = std::nullopt;
  std::optional<double> reserve = std::nullopt;
  std::optional<double> step_tokens = std::nullopt;
  std::optional<StateQuestion> state = std::nullopt;  // bf16 with AdamW unless given
};
PlanAnswer plan_train(const TrainQuestion& question, const Roofs* device);

// Computes the MFU of work that took `time_s` on `gpus` devices: FLOPs / (time x gpus x peak), with
// the peak of plan_train. The answer has `expected`, the ranges of published_mfu.hpp.
struct MfuQuestion {
  WorkQuestion work = {};
  double time_s = 0;
  std::optional<double> gpus = std::nullopt;  // 1 unless given
  FormatPair format = Format::bf16;
  std::optional<double> peak = std::nullopt;
};
PlanAnswer plan_mfu(const MfuQuestion& question, const Roofs* device);

// Computes the FLOPs and bytes of an einsum such as "bshd,bthd->bhst", or with names and spaces,
// "batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2"; indices in parentheses are one axis.
// One nest of loops over all indices does them: each step multiplies its operands and adds the
// product to the result, if an index is summed. `sizes` has each index. The answer has
// intensity_flop_per_byte. One operand of which nothing is summed is rearranged: `view` says
// whether strides over the same memory give the result, so that `bytes` is 0, copy_bytes are those
// of a contiguous copy, and the terms have the stride of each index in the operand.
PlanAnswer plan_einsum(const std::string& expression, const std::map<std::string, double>& sizes,
                       Format format);

// A link by what it does in one direction: as promised, as given, or as a row measured it.
struct Link {
  std::string name;
  double bytes_per_s;
  std::string source;  // of a measured rate the id of its row
  bool measured = false;
  std::string remark = {};  // of the link of ranks: the pair and the file that the rate comes from
};

// Returns the link of a name in link.cpp, or of byte/s as a number. Throws UsageError.
Link link_of(const std::string& text);

// Ranks that each send bytes over a link of their own in a collective of collectives.hpp.
struct CollectiveQuestion {
  std::string name;
  double ranks;
};

// Computes how long bytes take over a link. With a collective they are its message, and the answer
// has communication_bytes, those that a rank sends. With the device that they go to, the answer has
// creation_time_s, the time in which its memory takes as many bytes from a kernel that creates
// them: by the roof of the traffic that is nearest to writing only.
PlanAnswer plan_transfer(double bytes, const Link& link,
                         const std::optional<CollectiveQuestion>& collective = std::nullopt,
                         const Roofs* device = nullptr);

// The names of the links with their rates, for help: "pcie4x16 (31.5 GB/s), ...".
std::string link_names();

// Computes the bytes of a model, or the largest model that fits all GPUs together.
PlanAnswer plan_memory(const StateQuestion& question, std::optional<double> gpus,
                       const Roofs* device);

// Computes the bytes per rank under ZeRO, which shards optimizer states (stage 1), also gradients
// (2) and also parameters (3), and the bytes that a rank sends in a step (communication_bytes).
// Stage 0 is data parallelism without ZeRO. Without a stage the answer has `stages`, the four
// answers. Source: Rajbhandari et al., arXiv 1910.02054, figure 1 and section 7.
// With a link, answer or stages have link_time_s.
PlanAnswer plan_zero(const StateQuestion& question, std::optional<double> stage, double ranks,
                     const Roofs* device, const std::optional<Link>& link = std::nullopt);

// Computes the bytes of one dense tensor, and whether it fits the device. The shape is sizes joined
// by x: "49152x12288". The format is any in which values are stored, also in blocks with a scale
// (roofline/transformer/weights.hpp): nvfp4 (also fp4), mxfp4, mxfp8, int4.
PlanAnswer plan_tensor(const std::string& shape, const std::string& format,
                       const Roofs* device = nullptr);

// The activations that the backward pass of a network needs. Each of `layers` layers has batch x
// width outputs; or `model` gives the layers, and each row of the batch has `context` tokens.
// `checkpoint` is one of roofline/plan/network.hpp.
struct ActivationQuestion {
  std::optional<double> layers = std::nullopt;
  std::optional<double> width = std::nullopt;
  std::optional<Transformer> model = std::nullopt;
  std::optional<double> context = std::nullopt;  // of a model; 4096 unless given
  double batch = 0;
  double micro_batches = 1;      // gradient accumulation keeps one micro-batch at a time
  bool pre_activations = false;  // keep the values before the nonlinearity too
  bool scores = false;           // attention that is not fused keeps its scores
  // The gradient of a layer's weights is a temporary in the first micro-batch, too: the step clears
  // its gradients by zeros and adds to them, or the host or several ranks hold them.
  bool adds_gradients = false;
  std::string checkpoint = "none";
  Format format = Format::bf16;
};
PlanAnswer plan_activations(const ActivationQuestion& question, const Roofs* device = nullptr);

// Computes what one of `ranks` devices holds in training: its part of the state under a ZeRO stage,
// and the activations of its own batch. Plain layers are those of plan/step_memory.hpp, with the
// input, gradients of outputs and temporaries at the peak of a step; a model has the activations of
// plan_activations. With bf16-offload one gradient lives on the device until it has gone to the
// host, and with several ranks from stage 2 on until they have summed it: that of a layer's
// weights, of a model that of its largest linear layer. In stage 3 a rank also holds the gathered
// parameters of that layer. With `timeline`, which plain layers have, the answer has `timeline`,
// what lives in each phase of a step: {phase, layer (null without), live {part: bytes}, bytes}. The
// answer has `parts` {name, letter, bytes, ranks that share it}, whether the sum fits the memory
// that the device's name states (memory_bytes, fits) and the memory that programs can use
// (usable_bytes, fits_usable; null if unknown), and `changes`, each of which makes it fit: {change,
// bytes}. The model of `activations` gives the parameters, unless the state has them.
struct FitsQuestion {
  StateQuestion state;
  ActivationQuestion activations;
  double stage = 0;
  double ranks = 1;
  bool timeline = false;
  std::optional<Link> link = std::nullopt;  // between the ranks
};
PlanAnswer plan_fits(const FitsQuestion& asked, const Roofs& device);

// Compares ways to spread one batch of a model over `ranks` devices, by what a rank holds and sends
// in a step. `batch` of the activations is that of all ranks. `ways` has a row for each stage of
// ZeRO, whose ranks share the batch, for tensor parallelism with sequence parallelism (Shoeybi et
// al., arXiv 1909.08053; Korthikanti et al., arXiv 2205.05198) and for a pipeline in the schedule
// 1F1B (Narayanan et al., arXiv 2104.04473): state_bytes, layer_bytes (of the largest layer, as in
// plan_fits), activation_bytes, their sum bytes, communication_bytes, link_time_s, idle_share (of a
// pipeline with m micro-batches and p ranks (p - 1) / (m + p - 1)) and fits; null if unknown. A
// pipeline needs a layer for each rank.
struct ParallelQuestion {
  StateQuestion state;
  ActivationQuestion activations;
  double ranks = 1;
  std::optional<Link> link = std::nullopt;
};
PlanAnswer plan_parallel(const ParallelQuestion& asked, const Roofs* device);

// The checklist before a training run. `checks` has six rows {check, pass, value, limit (null:
// none), unit, remedy (null if it passes)}: model memory, optimizer state, activations, each with
// what comes before it, by plan_fits; FLOPs and time by plan_train against `days`; the format,
// which must hold a gradient of 1e-8; and communication, which must take no longer than a step of
// plan_train. The `link` may be empty for one device. The `host_link` is that of bf16-offload,
// whose traffic with the host must take no longer than a step either; other precisions have none.
struct CheckQuestion {
  FitsQuestion fits;
  double tokens = 0;
  double mfu = 0;
  std::optional<double> days = std::nullopt;  // that the run may take
  FormatPair format = Format::bf16;           // of the products
  std::optional<Link> link = std::nullopt;
  std::optional<Link> host_link = std::nullopt;
};
PlanAnswer plan_check(const CheckQuestion& question, const Roofs& device);

}  // namespace ridgebench
