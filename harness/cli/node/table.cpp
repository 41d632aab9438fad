#include "harness/cli/node/table.hpp"

#include <fmt/format.h>

namespace ridgebench::node {

std::string table_of(const NodeRun& run) {
  std::string text;
  for (const Gpu& gpu : run.gpus) {
    text += fmt::format("{:<8}", gpu.device());
    for (const Pass pass : kPasses) {
      text += fmt::format("  {} {:<7}", name(pass), name(gpu.at(pass).state));
    }
    text += "\n";
  }
  return text;
}

}  // namespace ridgebench::node
