#include "roofline/plan/state.hpp"

#include <fmt/format.h>

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
};
constexpr std::array kPrecisions{Precision{"bf16", 2, 2, false}, Precision{"fp32", 4, 4, false},
                                 Precision{"bf16-master", 2, 2, true},
                                 Precision{"fp32-bf16", 4, 2, false}};

// Number of fp32 states per parameter. Lion keeps the momentum alone (Chen et al., arXiv
// 2302.06675). Adafactor without momentum keeps the sums of the rows and columns of each matrix
// (Shazeer, Stern, arXiv 1804.04235): 4 (r + c) byte for r x c parameters, which is below 0.01 byte
// per parameter of matrices from 1024 x 1024 on and is not counted.
struct Optimizer {
  std::string_view name;
  int states;
  bool trains = true;
};
constexpr std::array kOptimizers{
    Optimizer{"none", 0, false}, Optimizer{"sgd", 0},     Optimizer{"momentum", 1},
    Optimizer{"adagrad", 1},     Optimizer{"rmsprop", 1}, Optimizer{"adam", 2},
    Optimizer{"adamw", 2},       Optimizer{"lion", 1},    Optimizer{"adafactor", 0}};

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
  if (!optimizer.trains && !trained) {
    const StoredFormat stored = parse_stored_format("--precision", question.precision);
    return {{"parameters", 'P', stored.bytes_per_value(), 3}};
  }
  const auto& precision = choose<Precision>("--precision", question.precision, kPrecisions);
  std::vector<StatePart> parts{{"parameters", 'P', precision.parameter_bytes, 3}};
  if (!optimizer.trains) return parts;
  parts.push_back({"gradients", 'G', precision.gradient_bytes, 2});
  if (precision.master_copy) parts.push_back({"fp32 master copy", 'M', kStateBytes, 1});
  if (optimizer.states > 0) {
    parts.push_back(
        {fmt::format("{} states", optimizer.name), 'O', kStateBytes * optimizer.states, 1});
  }
  return parts;
}

std::string state_note(const StateQuestion& question) {
  if (question.optimizer != "adafactor") return "";
  return "the row and column sums of adafactor, 4 (r + c) byte for a matrix of r x c, are not "
         "counted";
}

Sharding sharding_of(double stage, double ranks) {
  if (stage != 0 && stage != 1 && stage != 2 && stage != 3) {
    throw UsageError(fmt::format("--stage is {:g}; allowed: 0, 1, 2, 3", stage));
  }
  return {stage, whole("--ranks", ranks)};
}

double bytes_on_all_ranks(const std::vector<StatePart>& parts, const Sharding& sharding) {
  double bytes = 0;
  for (const StatePart& part : parts) bytes += part.bytes * (sharding.ranks / sharding.of(part));
  return bytes;
}

// On a ring a reduce-scatter or an all-gather of N bytes over d ranks sends N (d - 1) / d bytes
// from each rank. Stage 0 reduces the gradients on all ranks, which is one of each. Stages 1 and 2
// reduce-scatter the gradients and gather the updated parameters. Stage 3 gathers the parameters
// for the forward pass and again for the backward pass. Source: arXiv 1910.02054, section 7.
double sent_by_all_ranks(const std::vector<StatePart>& parts, const Sharding& sharding) {
  const double gradients = bytes_of(parts, 'G');
  const double parameters = bytes_of(parts, 'P');
  const bool trains = gradients > 0;
  double volume = 0;
  if (sharding.stage == kLastStage) {
    volume = gradients + (trains ? 2 : 1) * parameters;
  } else if (trains) {
    volume = gradients + (sharding.stage == 0 ? gradients : parameters);
  }
  return volume * (sharding.ranks - 1);
}

}  // namespace ridgebench
