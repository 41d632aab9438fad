// The kind of attention or recurrence, and the network, of each layer of a config.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "roofline/transformer/config_keys.hpp"

namespace ridgebench {

// `local`: attention in a window or a chunk; `linear`: linear attention, or a state-space layer.
enum class Mixer : std::uint8_t { none, full, local, linear };
enum class NetworkKind : std::uint8_t { none, dense, sparse };

struct LayerPlan {
  std::vector<Mixer> mixers;          // one a layer
  std::vector<NetworkKind> networks;  // likewise

  [[nodiscard]] std::int64_t layers() const { return static_cast<std::int64_t>(mixers.size()); }
  [[nodiscard]] std::int64_t count(Mixer mixer) const;
  [[nodiscard]] std::int64_t count(NetworkKind kind) const;
};

// Throws UsageError, also for layers of another kind: convolutions, cross-attention.
LayerPlan read_layer_plan(ConfigKeys& keys);

// The network of each layer. Throws UsageError.
std::vector<NetworkKind> read_network_kinds(ConfigKeys& keys, std::int64_t layers);

// Throws UsageError unless a list has as many entries as there are layers.
void check_layer_count(ConfigKeys& keys, std::string_view name, std::size_t found,
                       std::int64_t layers);

// The tokens of a window or a chunk; 0 if the config has none.
std::int64_t read_window(ConfigKeys& keys);

// The experts of a layer that has some; 0 if the model has none.
std::int64_t read_expert_count(ConfigKeys& keys);

}  // namespace ridgebench
