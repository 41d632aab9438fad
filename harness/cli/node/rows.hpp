// The rows of all GPUs of a node, side by side.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/node/bits.hpp"
#include "harness/cli/node/node_run.hpp"
#include "harness/cli/node/outlier.hpp"

namespace ridgebench::node {

// A row in one pass. Each list has an entry per GPU of the node, empty if the row is not ok.
struct PassOfRow {
  // 1/s; 1/cycle where `in_cycles`.
  std::vector<std::optional<double>> rates;
  std::vector<std::optional<PeerRatio>> peer_ratios;  // among the GPUs of the same model
  // The power limit lowered the clock of most GPUs. Their times differ as their power does, and
  // cycles are judged.
  bool in_cycles = false;
};

struct RowOfNode {
  std::string id;  // without @device
  std::array<PassOfRow, kPasses.size()> passes;

  [[nodiscard]] const PassOfRow& at(Pass pass) const {
    return passes[static_cast<std::size_t>(pass)];
  }
  // Rate of the loaded pass over that of the isolated one; empty if one is missing.
  [[nodiscard]] std::optional<double> loaded_over_isolated(std::size_t gpu) const;
};

// The median over a GPU's rows of what its telemetry read; of the loaded pass where it has rows.
struct Readings {
  std::optional<double> clock_hz, power_w, temperature_c;
};

struct RowsOfNode {
  std::vector<RowOfNode> rows;  // by id
  std::vector<Readings> readings;
  // For each GPU, the number of ceilings whose controls moved, from its environment.json.
  std::array<std::vector<std::ptrdiff_t>, kPasses.size()> moved = {};
  std::vector<OddBits> odd_bits = {};  // by GPU
};

// Reads the folders of the GPUs, and votes on their bits. A folder without readable rows has none.
RowsOfNode read_rows(const NodeRun& run);

}  // namespace ridgebench::node
