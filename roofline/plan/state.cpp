#include "roofline/plan/state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "kernels/common/error.hpp"
#include "roofline/plan/plan_parts.hpp"
#include "roofline/transformer/weights.hpp"

namespace ridgebench {
namespace {

constexpr double kStateBytes = 4;  // optimizer states and master copies are fp32

struct Precision {
  std::string_view name;
  double parameter_bytes;
  double gradient_bytes;
  bool master_copy;
  bool adapted = false;    // adapters are trained, the parameters are frozen
  bool offloaded = false;  // the host holds gradients, master copy and states, and does the step
};
// LoRA trains small matrices beside frozen ones (Hu et al., arXiv 2106.09685). ZeRO-Offload keeps
// the 16-bit parameters on the device, and the rest on the host (Ren et al., arXiv 2101.06840).
constexpr std::array kPrecisions{Precision{"bf16", 2, 2, false},
                                 Precision{"fp32", 4, 4, false},
                                 Precision{"bf16-master", 2, 2, true},
                                 Precision{"fp32-bf16", 4, 2, false},
                                 Precision{"bf16-lora", 2, 2, false, true},
                                 Precision{"bf16-offload", 2, 2, true, false, true}};
constexpr std::size_t kTrainedOnDevice =
    4;  // the first of them, of which all parameters are trained

// Number of fp32 states per parameter. Lion keeps only the momentum (Chen et al., arXiv
// 2302.06675). Adafactor without momentum keeps the sums of the rows and columns of each matrix
// (Shazeer, Stern, arXiv 1804.04235): 4 (r + c) byte for r x c parameters, which is below 0.01 byte
// per parameter of matrices from 1024 x 1024 on and is not counted.
//
// FLOPs per parameter, a square root and a division counted as 1:
//   sgd        p -= lr g: 2                       momentum  m = b m + g: 2, p -= lr m: 2
//   adagrad    v += g g: 2, p -= lr g / (sqrt v + e): 5
//   rmsprop    v = b v + (1 - b) g g: 4, the same step: 5
//   adam       m: 3, v: 4, both divided by their bias: 2, the same step: 5
//   adamw      adam's 14, p -= lr w p: 2
//   lion       c = b m + (1 - b) g: 3, p -= lr (sign c + w p): 5, m: 3
//   adafactor  g g + e: 2, sums of rows and columns: 2, their product, its root, the division: 3,
//              the mean square of the update: 2, clipping: 1, p -= lr u: 2
struct Optimizer {
  std::string_view name;
  int states;
  double flops;
};
constexpr std::string_view kNoOptimizer = "none";
constexpr std::array kOptimizers{
    Optimizer{kNoOptimizer, 0, 0}, Optimizer{"sgd", 0, 2},     Optimizer{"momentum", 1, 4},
    Optimizer{"adagrad", 1, 7},    Optimizer{"rmsprop", 1, 9}, Optimizer{"adam", 2, 14},
    Optimizer{"adamw", 2, 16},     Optimizer{"lion", 1, 11},   Optimizer{"adafactor", 0, 12}};

bool trains(const Optimizer& optimizer) { return optimizer.name != kNoOptimizer; }

template <class Entry>
const Entry& choose(std::string_view option, std::string_view name, std::span<const Entry> table) {
  const auto found = std::ranges::find(table, name, &Entry::name);
  if (found != table.end()) return *found;
  std::string allowed;
  for (const Entry& entry : table) {
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", entry.name);
  }
  throw UsageError(fmt::format("{} is '{}'; allowed: {}", option, name, allowed));
}

// The trained share of the parameters' number: 1, or that of the adapters.
double trained_share(const StateQuestion& question, const Precision& precision) {
  if (precision.adapted != question.adapters.has_value()) {
    throw UsageError("--adapters and --precision bf16-lora need each other; allowed: both or none");
  }
  if (!precision.adapted) return 1;
  const double share = *question.adapters;
  if (share > 0 && share <= 1) return share;
  throw UsageError(fmt::format(
      "--adapters is {:g}; allowed: a share of the parameters above 0, such as 0.5%", share));
}

// Bytes per parameter of the part with a letter; 0 without that part.
double bytes_of(const std::vector<StatePart>& parts, char letter) {
  const auto found = std::ranges::find(parts, letter, &StatePart::letter);
  return found == parts.end() ? 0 : found->bytes;
}

}  // namespace

std::vector<StatePart> state_parts(const StateQuestion& question) {
  const auto& optimizer = choose<Optimizer>("--optimizer", question.optimizer, kOptimizers);
  const bool trained =
      std::ranges::find(kPrecisions, question.precision, &Precision::name) != kPrecisions.end();
  if (!trains(optimizer) && !trained) {
    const StoredFormat stored = parse_stored_format("--precision", question.precision);
    return {{"parameters", 'P', stored.bytes_per_value(), 3}};
  }
  const auto& precision = choose<Precision>("--precision", question.precision, kPrecisions);
  const double share = trained_share(question, precision);
  std::vector<StatePart> parts{
      {precision.adapted ? "frozen parameters" : "parameters", 'P', precision.parameter_bytes, 3}};
  if (precision.adapted) parts.push_back({"adapters", 'L', share * precision.parameter_bytes, 3});
  if (!trains(optimizer)) return parts;
  const bool on_host = precision.offloaded;
  const std::string where = on_host ? " on the host" : "";
  parts.push_back({"gradients" + where, 'G', share * precision.gradient_bytes, 2, on_host});
  if (precision.master_copy)
    parts.push_back({"fp32 master copy" + where, 'M', kStateBytes, 1, on_host});
  if (optimizer.states > 0) {
    parts.push_back({fmt::format("{} states{}", optimizer.name, where), 'O',
                     share * kStateBytes * optimizer.states, 1, on_host});
  }
  return parts;
}

OptimizerStep optimizer_step(const StateQuestion& question) {
  const auto& optimizer = choose<Optimizer>("--optimizer", question.optimizer, kOptimizers);
  if (!trains(optimizer)) {
    const std::span training(kOptimizers);
    (void)choose<Optimizer>("--optimizer of training", question.optimizer, training.subspan(1));
  }
  const std::span all(kPrecisions);
  const auto& precision = choose<Precision>("--precision of a step on the device",
                                            question.precision, all.first(kTrainedOnDevice));
  const double states = kStateBytes * optimizer.states;
  const double master = precision.master_copy ? kStateBytes : 0;
  const double read = precision.master_copy ? master : precision.parameter_bytes;
  return {.read_bytes = read + precision.gradient_bytes + states,
          .written_bytes = precision.parameter_bytes + master + states,
          .flops = optimizer.flops};
}

bool offloads(const StateQuestion& question) {
  const std::vector<StatePart> parts = state_parts(question);
  return std::ranges::any_of(parts, &StatePart::on_host);
}

std::string state_note(const StateQuestion& question) {
  if (question.precision == "bf16-offload") {
    return "the device holds the parameters only, and a gradient until it has gone to the host";
  }
  if (question.optimizer != "adafactor") return "";
  return "the row and column sums of adafactor, 4 (r + c) byte for a matrix of r x c, are not "
         "counted";
}

Sharding sharding_of(double stage, double ranks) {
  if (std::ranges::find(kStages, stage) == kStages.end()) {
    throw UsageError(
        fmt::format("--stage is {:g}; allowed: {:g}", stage, fmt::join(kStages, ", ")));
  }
  return {stage, whole("--ranks", ranks)};
}

double bytes_on_all_ranks(const std::vector<StatePart>& parts, const Sharding& sharding) {
  double bytes = 0;
  for (const StatePart& part : parts) {
    if (!part.on_host) bytes += part.bytes * (sharding.ranks / sharding.of(part));
  }
  return bytes;
}

double host_bytes(const std::vector<StatePart>& parts, const Sharding& sharding) {
  double bytes = 0;
  for (const StatePart& part : parts) bytes += part.on_host ? part.bytes / sharding.of(part) : 0;
  return bytes;
}

double host_link_bytes(const std::vector<StatePart>& parts, const Sharding& sharding,
                       double micro_batches) {
  double bytes = 0;
  for (const StatePart& part : parts) {
    if (!part.on_host) continue;
    if (part.letter == 'G') bytes += micro_batches * part.bytes / sharding.of(part);
    if (part.letter == 'M') bytes += bytes_of(parts, 'P') / sharding.of(part);
  }
  return bytes;
}

std::vector<LayerBuffer> layer_buffers(const std::vector<StatePart>& parts,
                                       const Sharding& sharding) {
  std::vector<LayerBuffer> buffers;
  for (const StatePart& part : parts) {
    if (part.letter != 'G') continue;
    if (part.on_host) {
      buffers.push_back({"largest gradient, on its way to the host", 'G', part.bytes, 0});
    } else if (sharding.scatters_gradients()) {
      buffers.push_back(
          {"largest gradient before its reduce-scatter", 'G', part.bytes, kGradientStage});
    }
  }
  if (sharding.gathers_parameters()) {
    buffers.push_back({"gathered parameters of the largest layer", kGathered,
                       bytes_of(parts, 'P') + bytes_of(parts, 'L'), kLastStage});
  }
  return buffers;
}

// On a ring a reduce-scatter or an all-gather of N bytes over d ranks sends N (d - 1) / d bytes
// from each rank. Stage 0 reduces the gradients on all ranks, which is one of each. Stages 1 and 2
// reduce-scatter the gradients and gather the updated parameters. Stage 3 gathers the parameters
// for the forward pass and again for the backward pass. Source: arXiv 1910.02054, section 7.
double sent_in_a_step(const std::vector<StatePart>& parts, const Sharding& sharding,
                      double parameters, double micro_batches) {
  const double gradients = bytes_of(parts, 'G');
  const double adapters = bytes_of(parts, 'L');
  const double all = bytes_of(parts, 'P') + adapters;
  const double trained = adapters > 0 ? adapters : all;
  const bool trains = gradients > 0;
  double volume = 0;
  if (sharding.stage == kLastStage) {
    volume = micro_batches * (gradients + (trains ? 2 : 1) * all);
  } else if (trains) {
    const double reduced = sharding.shards_gradients() ? micro_batches * gradients : gradients;
    volume = reduced + (sharding.stage == 0 ? gradients : trained);
  }
  return volume * (sharding.ranks - 1) / sharding.ranks * parameters;
}

}  // namespace ridgebench
