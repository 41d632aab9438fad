#include "harness/cli/node/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "harness/base/loaded_kernels.hpp"
#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/node/measure_pass.hpp"
#include "harness/cli/node/node_command.hpp"
#include "harness/cli/node/table.hpp"
#include "harness/measure/campaign.hpp"
#include "harness/results/results_directory.hpp"

namespace ridgebench {
namespace node {
namespace {

using Words = std::vector<std::string>;

constexpr double kLimitBesideBudget_s = 60;

constexpr double kLeastBudget_s = 1e-3;  // that `run --budget` takes

// Seconds of a GPU in a pass; empty without a budget.
std::optional<double> share(const NodeRun& run, Pass pass) {
  if (!run.budget_s) return std::nullopt;
  const std::size_t in_turn = pass == Pass::isolated ? run.gpus.size() : 1;
  return *run.budget_s / 2 / static_cast<double>(in_turn);
}

// Refuses a budget of which a GPU would get less than `run --budget` takes.
void require_enough(const NodeRun& run) {
  const auto seconds = share(run, Pass::isolated);
  if (!seconds || *seconds >= kLeastBudget_s) return;
  throw UsageError(fmt::format("--budget {:g} for {} GPUs; allowed: {:g} s or more", *run.budget_s,
                               run.gpus.size(),
                               2 * kLeastBudget_s * static_cast<double>(run.gpus.size())));
}

// The command that goes on with the run of a GPU. Its folder has the request.
Words words_of_resumed(const std::string& program, const std::filesystem::path& folder,
                       const NodeRequest& request) {
  Words words{program, "run", "--resume=" + folder.string()};
  if (request.retry) words.emplace_back("--retry");
  add_load_arguments(words);
  return words;
}

Words words_of(const NodeRun& run, Pass pass, const Gpu& gpu, const NodeRequest& request) {
  const std::filesystem::path folder = run.folder / gpu.at(pass).folder;
  if (run.is_resumed() && std::filesystem::exists(folder / "environment.json")) {
    return words_of_resumed(run.command_line.front(), folder, request);
  }
  Words words = words_of_gpu(run, pass, gpu);
  if (const auto seconds = share(run, pass))
    words.push_back(fmt::format("--budget={:g}", *seconds));
  return words;
}

// A process with failed rows ended, too, unless it measures them again.
bool has_no_row_left(const GpuPass& pass, bool retry) {
  const bool failed = pass.state == State::failed && pass.exit == int(ExitCode::row_failed);
  return pass.state == State::done || (failed && !retry);
}

// The rows of a loaded pass that goes on ran without the load of GPUs that have no row left.
void note_load_of_resumed(const NodeRun& run, bool retry) {
  const auto done = std::ranges::count_if(
      run.gpus, [&](const Gpu& gpu) { return has_no_row_left(gpu.at(Pass::loaded), retry); });
  if (done == 0 || done == std::ssize(run.gpus)) return;
  write_error(fmt::format(
      "note: in the loaded pass {} of {} GPUs are done: the rest of the others' rows runs without "
      "their load\n",
      done, run.gpus.size()));
}

void measure(NodeRun& run, const NodeRequest& request) {
  Progress progress(0);
  for (const Pass pass : kPasses) {
    const auto seconds = share(run, pass);
    const double limit = seconds ? std::min(kLimit_s, kLimitBesideBudget_s + *seconds) : kLimit_s;
    measure_pass(run, pass,
                 {.command = [&](const Gpu& gpu) { return words_of(run, pass, gpu, request); },
                  .limit_s = request.limit_s.value_or(limit),
                  .progress = &progress});
    require_usable(run, pass);
  }
}

// Passes that are done stay, and the others begin again.
NodeRun resumed_run(const NodeRequest& request) {
  const std::string& folder = request.resume;
  lock_folder(folder);  // first: the run that holds it changes node.json until it ends
  NodeRun run = read_node_run(folder, kRunWork);
  require_same_node(run, find_node_gpus(""));
  if (!request.dry_run) note_load_of_resumed(run, request.retry);
  for (Gpu& gpu : run.gpus) {
    for (GpuPass& pass : gpu.passes) {
      if (pass.state == State::done) continue;
      pass = {.folder = pass.folder,
              .state = State::waiting,
              .exit = {},
              .reason = {},
              .started = {},
              .ended = {}};
    }
  }
  run.interrupted = true;
  run.resumed.push_back(timestamp());
  return run;
}

}  // namespace
}  // namespace node

bool holds_node(const std::filesystem::path& folder) {
  std::error_code unknown;
  return std::filesystem::exists(folder / kNodeFile, unknown);
}

ExitCode measure_node(const NodeRequest& request, const std::vector<std::string>& command_line) {
  node::NodeRun run = request.resume.empty() ? node::new_run(node::kRunWork, request, command_line)
                                             : node::resumed_run(request);
  node::require_enough(run);
  if (request.dry_run) {
    node::print_dry_run(run, [&](node::Pass pass) { return node::share(run, pass); });
    return ExitCode::fine;
  }
  if (!run.is_resumed()) node::make_folder(run, request.out);
  listen_for_signals();
  run.write();
  node::measure(run, request);
  const node::RowsOfNode rows = node::read_rows(run);
  const bool wrong = std::ranges::any_of(rows.odd_bits, &node::OddBits::wrong);
  node::end_run(run, wrong ? int(ExitCode::row_failed) : 0);
  std::cout << node::table_of(run, rows) << std::flush;
  if (signalled()) {
    print_problem(
        "interrupted; finished rows are kept, `run --concurrent --resume DIR` measures the rest");
  }
  write_error(fmt::format("results: {}\n", printable(run.folder.string())));
  return static_cast<ExitCode>(*run.exit);
}

}  // namespace ridgebench
