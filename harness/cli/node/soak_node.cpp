#include "harness/cli/node/soak_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/node/measure_pass.hpp"
#include "harness/cli/node/node_command.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/soak/table.hpp"
#include "harness/measure/signals.hpp"
#include "harness/results/soak_report.hpp"
#include "roofline/nullable.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace node {
namespace {

using nlohmann::ordered_json;

// The totals of a GPU's log; empty if the log is absent or cannot be read.
struct SoakOfGpu {
  std::optional<SoakReport> report;
  std::string unreadable;

  [[nodiscard]] int code() const { return int(report ? report->exit_code() : ExitCode::undecided); }
};

SoakOfGpu read_soak_of(const NodeRun& run, const Gpu& gpu) {
  try {
    return {.report = read_soak((run.folder / gpu.at(Pass::soak).folder).string()),
            .unreadable = {}};
  } catch (const UsageError& error) {
    return {.report = std::nullopt, .unreadable = error.what()};
  }
}

std::vector<SoakOfGpu> read_soaks(const NodeRun& run) {
  std::vector<SoakOfGpu> soaks;
  for (const Gpu& gpu : run.gpus) soaks.push_back(read_soak_of(run, gpu));
  return soaks;
}

int code_of(const std::vector<SoakOfGpu>& soaks) {
  int code = 0;
  for (const SoakOfGpu& soak : soaks) code = std::max(code, soak.code());
  return code;
}

// The state, why it is not done, and what was found so far.
std::string line_of(const Gpu& gpu, const SoakOfGpu& soak, std::size_t width) {
  const GpuPass& pass = gpu.at(Pass::soak);
  std::string text = fmt::format("{:<{}}  {:<8}", gpu.device(), width, name(pass.state));
  const bool found = soak.report && !soak.report->counts().empty();
  const std::string verdict =
      found ? soak_verdict(*soak.report) : printable(soak.report ? "" : soak.unreadable);
  const std::string reason = printable(pass.reason);
  if (reason.starts_with(verdict)) return text + reason + '\n';
  return text + (reason.empty() ? "" : reason + "; ") + verdict + '\n';
}

void print_text(const NodeRun& run, const std::vector<SoakOfGpu>& soaks) {
  std::size_t width = 0;
  for (const Gpu& gpu : run.gpus) width = std::max(width, gpu.device().size());
  fmt::print("node {}: a soak of {}\n", printable(run.node), counted(run.gpus.size(), "GPU"));
  for (std::size_t i = 0; i < soaks.size(); ++i) {
    fmt::print("{}", line_of(run.gpus[i], soaks[i], width));
  }
  const auto worst = std::ranges::max_element(soaks, {}, &SoakOfGpu::code);
  const Gpu& gpu = run.gpus[static_cast<std::size_t>(worst - soaks.begin())];
  fmt::print("`soak --read {}` prints the kernels of {}\n",
             printable((run.folder / gpu.at(Pass::soak).folder).string()), gpu.device());
}

void print_answer_of(const NodeRun& run, const std::vector<SoakOfGpu>& soaks, int code) {
  ordered_json gpus = ordered_json::array();
  for (std::size_t i = 0; i < soaks.size(); ++i) {
    const GpuPass& pass = run.gpus[i].at(Pass::soak);
    ordered_json gpu = run.gpus[i].facts;
    gpu["folder"] = pass.folder;
    gpu["state"] = name(pass.state);
    gpu["exit"] = nullable(pass.exit);
    gpu["reason"] = nullable(pass.reason);
    gpu["unreadable"] = nullable(soaks[i].unreadable);
    gpu["soak"] =
        soaks[i].report ? named_answer("soak", soaks[i].report->to_json()) : ordered_json(nullptr);
    gpus.push_back(std::move(gpu));
  }
  print_answer("soak_node", {{"node", run.node},
                             {"started", run.started},
                             {"ended", nullable(run.ended)},
                             {"interrupted", run.interrupted},
                             {"exit", code},
                             {"gpus", std::move(gpus)}});
}

ExitCode print_soaks(const NodeRun& run, const std::vector<SoakOfGpu>& soaks, bool json) {
  const int code = std::max(run.code(), code_of(soaks));
  if (json) {
    print_answer_of(run, soaks, code);
  } else {
    print_text(run, soaks);
  }
  return static_cast<ExitCode>(code);
}

void burn_in(NodeRun& run, const NodeRequest& request) {
  Progress progress(0);
  measure_pass(run, Pass::soak,
               {.command = [&](const Gpu& gpu) { return words_of_gpu(run, Pass::soak, gpu); },
                .limit_s = request.limit_s.value_or(kLimit_s),
                .progress = &progress});
  require_usable(run, Pass::soak);
}

}  // namespace
}  // namespace node

ExitCode read_soak_node(const std::filesystem::path& folder, bool json) {
  const node::NodeRun run = node::read_node_run(folder, node::kSoakWork);
  return node::print_soaks(run, node::read_soaks(run), json);
}

ExitCode soak_node(const NodeRequest& request, bool json,
                   const std::vector<std::string>& command_line) {
  node::NodeRun run = node::new_run(node::kSoakWork, request, command_line);
  if (request.dry_run) {
    node::print_dry_run(run, [](node::Pass) { return std::optional<double>(); });
    return ExitCode::fine;
  }
  node::make_folder(run, request.out);
  listen_for_signals();
  run.write();
  node::burn_in(run, request);
  const std::vector<node::SoakOfGpu> soaks = node::read_soaks(run);
  node::end_run(run, node::code_of(soaks));
  const ExitCode code = node::print_soaks(run, soaks, json);
  write_error(fmt::format("results: {}\n", printable(run.folder.string())));
  if (signalled()) print_problem("interrupted; the logs have every mismatch so far");
  return code;
}

}  // namespace ridgebench
