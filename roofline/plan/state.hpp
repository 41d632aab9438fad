// The training state: parameters, gradients and optimizer states, and how ZeRO shards them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "roofline/plan/plan.hpp"

namespace ridgebench {

// One part of the state: its bytes per parameter, and the first ZeRO stage that shards it.
struct StatePart {
  std::string name;
  char letter;  // in a bar
  double bytes;
  int sharded_from;
  bool on_host = false;
};

// Returns the parts of a question. Throws UsageError for an unknown precision or optimizer.
std::vector<StatePart> state_parts(const StateQuestion& question);

// The optimizer's step for one parameter. It reads the gradient and the states, and the
// fp32 master copy or else the parameter; it writes the parameter, the master copy and the states.
// AdamW in bf16 reads 2 + 2 + 8 and writes 2 + 8 bytes; with a master copy the bf16 parameter is
// only written, 14 + 14. Adafactor's sums are not counted.
struct OptimizerStep {
  double read_bytes;
  double written_bytes;
  double flops;

  [[nodiscard]] double bytes() const { return read_bytes + written_bytes; }
};
// Throws UsageError for an unknown precision or optimizer, and for the optimizer none.
OptimizerStep optimizer_step(const StateQuestion& question);

// True if the host holds the gradients and the optimizer's states.
bool offloads(const StateQuestion& question);

// Returns what the state leaves out; empty for most optimizers.
std::string state_note(const StateQuestion& question);

// The stages of ZeRO.
inline constexpr std::array kStages{0.0, 1.0, 2.0, 3.0};
inline constexpr double kGradientStage = 2;  // the first that shards gradients
inline constexpr double kLastStage = kStages.back();

// The ranks that share the parts which a ZeRO stage shards.
struct Sharding {
  double stage = 0;
  double ranks = 1;

  [[nodiscard]] double of(const StatePart& part) const {
    return stage >= part.sharded_from ? ranks : 1;
  }
  [[nodiscard]] bool shards_gradients() const { return stage >= kGradientStage; }
  // Several ranks sum each gradient, and each of them keeps its part of the sum.
  [[nodiscard]] bool scatters_gradients() const { return shards_gradients() && ranks > 1; }
  [[nodiscard]] bool gathers_parameters() const { return stage == kLastStage && ranks > 1; }
};

// Checks a stage, 0 to 3, and a number of ranks. Throws UsageError.
Sharding sharding_of(double stage, double ranks);

// Returns the bytes of a parameter on the devices, times the ranks, a whole number: 4.8 byte on 5
// ranks is not exact.
double bytes_on_all_ranks(const std::vector<StatePart>& parts, const Sharding& sharding);

// Bytes per parameter that the host holds for a rank, and those that cross the rank's link to the
// host in a step: the gradients of every micro-batch to the host, the parameters that the host has
// updated for the rank back (Ren et al., arXiv 2101.06840, section 4). 0 without offload.
double host_bytes(const std::vector<StatePart>& parts, const Sharding& sharding);
double host_link_bytes(const std::vector<StatePart>& parts, const Sharding& sharding,
                       double micro_batches);

inline constexpr char kGathered = 'W';

// A buffer of one whole layer, which a device holds for a while beside its part of the state.
struct LayerBuffer {
  std::string name;
  char letter;   // in a bar: G, or kGathered
  double bytes;  // for a parameter of the layer
  double from_stage;
};

// The gradient of a layer lives until it has gone to the host, or until the ranks that shard
// gradients have summed it by a reduce-scatter. Ranks that shard parameters gather those of a layer
// before they compute it (Rajbhandari et al., arXiv 1910.02054, sections 5.2 and 5.3).
std::vector<LayerBuffer> layer_buffers(const std::vector<StatePart>& parts,
                                       const Sharding& sharding);

// Returns the bytes that a rank of a model of `parameters` sends in a step. A rank that shards its
// gradients has room for its own part of their sum only, so every micro-batch sends gradients. A
// rank that shards parameters gathers them for every micro-batch, too.
double sent_in_a_step(const std::vector<StatePart>& parts, const Sharding& sharding,
                      double parameters, double micro_batches = 1);

}  // namespace ridgebench
