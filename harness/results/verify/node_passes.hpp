// The passes of a node as its node.json states them, and the results folders that belong to them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/common/enum_names.hpp"

namespace ridgebench::node {

// A process that ended no row, or logged no event, for too long hung. One that a signal ended was
// killed.
enum class State : std::uint8_t { waiting, running, done, failed, hung, killed };
constexpr auto names_of(State) {
  return enum_names("state", "waiting", "running", "done", "failed", "hung", "killed");
}

struct StatedPass {
  std::string device;
  std::optional<std::string> uuid_hash;
  std::string pass;              // isolated
  std::filesystem::path folder;  // from the tree that node.json lies in
  State state;
  std::string reason;  // why it is not done; empty: node.json has none
  std::optional<int> exit;

  // "sim:1 isolated is failed: device sim:1 was lost"
  [[nodiscard]] std::string text() const;
};

struct StatedNode {
  std::string file;  // from the tree
  std::optional<std::string> hostname_hash;
  bool ended;
  bool interrupted;
  std::optional<int> exit;
  std::vector<StatedPass> passes;
};

// Reads a node.json. `file` is its path from `tree`. Throws UsageError.
StatedNode read_stated_node(const std::filesystem::path& tree, const std::filesystem::path& file);

// One line for each thing in which the node and its results folders do not fit together. `folders`
// are all results folders of the tree, from it. A pass that is not done is none if node.json says
// why. Throws UsageError for an environment.json that cannot be read.
std::vector<std::string> problems_of_node(const std::filesystem::path& tree, const StatedNode& node,
                                          std::span<const std::filesystem::path> folders);

}  // namespace ridgebench::node
