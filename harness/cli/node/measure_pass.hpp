// One pass over the GPUs of a node: a process each, one after the other or all at the same time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/cli/node/node_run.hpp"
#include "harness/cli/run/progress.hpp"

namespace ridgebench::node {

// Seconds without a new row or event after which a process hangs. The watchdog of a process, which
// ends a row after a minute or more, comes first; it cannot end a process that does not open its
// device.
inline constexpr double kLimit_s = 300;

struct PassSettings {
  // The command line of a GPU's process.
  std::function<std::vector<std::string>(const Gpu&)> command;
  double limit_s;  // a process hangs if it writes no line for so long
  Progress* progress;
};

// The hidden option of one of N processes that run at the same time. It has the host's threads in
// an N-th of their number, prepares, stops itself (SIGSTOP), and begins after SIGCONT.
inline constexpr const char* kTogether = "--together";

// Measures or burns in the GPUs whose pass is not done, and writes node.json whenever a GPU begins
// or ends. In every pass but the isolated one the processes prepare, and all begin when the last
// one is ready. A process that hangs is ended (SIGTERM, then SIGKILL), and the others go on. A GPU
// that hung or was lost in the isolated pass is left out of the loaded one. After a signal to this
// process all end. Throws StorageError.
void measure_pass(NodeRun& run, Pass pass, const PassSettings& settings);

}  // namespace ridgebench::node
