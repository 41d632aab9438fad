// Parts that `run --concurrent` and `soak --concurrent` share: the folder, the words of the
// processes, and the end of a command that no process accepts.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/node/node.hpp"
#include "harness/cli/node/node_run.hpp"

namespace ridgebench::node {

// A node's work that has not begun. Throws what find_node_gpus() throws.
NodeRun new_run(const NodeWork& work, const NodeRequest& request,
                const std::vector<std::string>& command_line);

// Prints the passes of the GPUs that are not done. `seconds_of` returns the budget of a GPU in a
// pass; empty without one.
void print_dry_run(const NodeRun& run,
                   const std::function<std::optional<double>(Pass)>& seconds_of);

// The command line of the process of a GPU: the words of this command, except those that concern
// the node, then the device and its folder.
std::vector<std::string> words_of_gpu(const NodeRun& run, Pass pass, const Gpu& gpu);

// Creates the folder of a new run, or the default one if `out` is empty, and locks it. Throws
// UsageError for a folder that is not empty or cannot be written to.
void make_folder(NodeRun& run, const std::string& out);

// Keeps other processes of this command out of the folder until this one ends. A file system
// without locks keeps none out. Throws UsageError if another process has the lock.
void lock_folder(const std::filesystem::path& folder);

// Throws UsageError with the reason if the processes of a pass refused their command. A new run
// leaves no folder then.
void require_usable(const NodeRun& run, Pass pass);

// Ends the run with at least this exit code, and writes node.json.
void end_run(NodeRun& run, int code);

}  // namespace ridgebench::node
