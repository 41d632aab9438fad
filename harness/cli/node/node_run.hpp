// State of a run or a soak over all GPUs of a node, as node.json holds it
// (results/schema/node.schema.json).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/results/files/results_files.hpp"
#include "harness/results/verify/node_passes.hpp"
#include "kernels/common/enum_names.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench::node {

// A run measures each GPU alone, then all at the same time. A soak burns in all at the same time.
enum class Pass : std::uint8_t { isolated, loaded, soak };
constexpr auto names_of(Pass) { return enum_names("pass", "isolated", "loaded", "soak"); }
inline constexpr std::size_t kAllPasses = names_of(Pass{}).names.size();
inline constexpr std::array kPasses{Pass::isolated, Pass::loaded};
inline constexpr std::array kSoakPasses{Pass::soak};

// The command that the processes of a node run.
struct NodeWork {
  const char* command;
  std::span<const Pass> passes;
  std::string_view file;  // to which a process appends a line for each result
  const char* line;       // the name of such a line
  const char* parts;      // the name of what a process measures or launches
  const char* help;       // of --concurrent
};
inline constexpr NodeWork kRunWork{
    "run", kPasses, kRecordsFile, "row", "rows", "Every GPU of this node: alone, then all at once"};
inline constexpr NodeWork kSoakWork{"soak",  kSoakPasses, kSoakFile,
                                    "event", "kernels",   "Every GPU of this node, all at once"};

// The reason of a pass that a signal to the command ended.
inline constexpr const char* kInterrupted = "interrupted";

struct GpuPass {
  std::string folder;  // below the node's: isolated/cuda-0
  State state = State::waiting;
  std::optional<int> exit;  // the code of its process; empty: none, or a signal ended it
  std::string reason;       // why it is not done
  std::string started;      // RFC 3339; of the loaded pass, when all began; empty: not yet
  std::string ended;
  // The counters of faults that grew, as its run recorded them (harness/results/worn.hpp).
  std::vector<std::string> worn = {};

  // The pass's part in the exit code of the command.
  [[nodiscard]] int code() const;
};

struct Gpu {
  nlohmann::ordered_json facts;  // device, index, uuid_hash, model, pci_address
  std::array<GpuPass, kAllPasses> passes;

  [[nodiscard]] std::string device() const { return facts.at("device").get<std::string>(); }
  [[nodiscard]] GpuPass& at(Pass pass) { return passes[static_cast<std::size_t>(pass)]; }
  [[nodiscard]] const GpuPass& at(Pass pass) const {
    return passes[static_cast<std::size_t>(pass)];
  }
};

struct NodeRun {
  const NodeWork* work;
  std::string node;  // its name
  std::filesystem::path folder;
  std::vector<std::string> command_line;
  std::optional<double> budget_s;
  std::vector<Gpu> gpus;
  std::string started;
  std::vector<std::string> resumed = {};  // when the run was taken up again
  std::string ended;                      // empty: not yet
  bool interrupted = true;                // by a signal, until the end says that it was not
  std::optional<int> exit;                // of the command

  [[nodiscard]] bool is_resumed() const { return !resumed.empty(); }
  // The largest code of the GPUs, because a scheduler reports the largest of a job.
  [[nodiscard]] int code() const;
  // Writes node.json, whole or not at all. Throws StorageError.
  void write() const;
};

// Reads node.json. Throws UsageError for a folder without it, and for one of other work.
NodeRun read_node_run(const std::filesystem::path& folder, const NodeWork& work);

// Throws UsageError if another version of the program or another node wrote node.json, or if a GPU
// of the run is not among those that this node has now.
void require_same_node(const NodeRun& run, const std::vector<Gpu>& now);

// Finds the GPUs in a process of its own: this process never uses the driver, which may hang.
// `device` names one of them; empty: all. Throws UsageError for a device that is not a GPU of this
// node, DeviceError where there is none or the driver does not answer.
std::vector<Gpu> find_node_gpus(const std::string& device);

}  // namespace ridgebench::node
