#include "tests/support/node/simulated_node.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/base/checksum.hpp"
#include "harness/cli/machine_facts.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {

std::vector<std::string> simulated_gpus() {
  const char* const file = std::getenv("RIDGEBENCH_SIMULATED_GPUS");
  if (file == nullptr) return {};
  const auto nodes = nlohmann::json::parse(read_file(file), nullptr, false);
  const std::string here = node_name();
  const std::string key = nodes.contains(here) ? here : "*";
  try {
    return nodes.at(key).get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception&) {
    throw UsageError(
        fmt::format(R"({}: no GPUs of {}; allowed: {{"*": ["seed=1", ...]}})", file, here));
  }
}

Simulation simulated_gpu(std::size_t index) {
  const std::vector<std::string> texts = simulated_gpus();
  if (index >= texts.size()) {
    throw DeviceError(fmt::format("device sim:{} is absent: the node has {} simulated GPUs", index,
                                  texts.size()));
  }
  Simulation gpu = parse_simulation(texts[index]);
  gpu.name = fmt::format("sim:{}", index);
  if (gpu.uuid_hash.empty()) {
    gpu.uuid_hash = sha256(fmt::format("{}/{}", node_name(), index)).substr(0, 16);
  }
  return gpu;
}

}  // namespace ridgebench
