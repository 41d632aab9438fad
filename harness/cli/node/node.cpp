#include "harness/cli/node/node.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "harness/base/loaded_kernels.hpp"
#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/node/measure_pass.hpp"
#include "harness/cli/node/table.hpp"
#include "harness/measure/campaign.hpp"
#include "harness/results/results_directory.hpp"

namespace ridgebench {
namespace node {
namespace {

using Words = std::vector<std::string>;

// Seconds without a new row after which a process hangs. The watchdog of a process, which ends a
// row after a minute or more, comes first; it cannot end a process that does not open its device.
constexpr double kLimit_s = 300;
constexpr double kLimitBesideBudget_s = 60;

constexpr double kLeastBudget_s = 1e-3;  // that `run --budget` takes

// The options of the command that its processes get in another form, or not at all.
constexpr std::array kWithValue{"--device", "--out", "--budget", "--hang-limit"};
constexpr std::array kFlags{"--concurrent", "--dry-run"};

Words words_for_all(const Words& line) {
  const auto is = [](const std::string& word, const char* option) {
    return word == option || word.starts_with(std::string(option) + '=');
  };
  Words words;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto this_word = [&](const char* option) { return is(line[i], option); };
    if (std::ranges::any_of(kFlags, this_word)) continue;
    if (!std::ranges::any_of(kWithValue, this_word)) {
      words.push_back(line[i]);
    } else if (line[i].find('=') == std::string::npos) {
      ++i;  // the value
    }
  }
  return words;
}

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
  Words words = words_for_all(run.command_line);
  words.push_back("--device=" + gpu.device());
  if (const auto seconds = share(run, pass))
    words.push_back(fmt::format("--budget={:g}", *seconds));
  words.push_back("--out=" + folder.string());
  return words;
}

std::filesystem::path new_folder(const std::string& out) {
  if (out.empty()) return create_default_folder();
  const std::filesystem::path folder = out;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto refuse = [&](const std::string& reason) {
    throw UsageError(fmt::format("cannot write results to {}: {}; allowed: an empty or new folder",
                                 out, reason));
  };
  if (error) refuse(error.message());
  if (!std::filesystem::is_empty(folder, error)) refuse("the folder is not empty");
  return folder;
}

void print_dry_run(const NodeRun& run) {
  for (const Pass pass : kPasses) {
    for (const Gpu& gpu : run.gpus) {
      if (gpu.at(pass).state == State::done) continue;
      const auto seconds = share(run, pass);
      fmt::print("{:<8} {}{}\n", name(pass), gpu.device(),
                 seconds ? fmt::format(" {:g} s", *seconds) : "");
    }
  }
  fmt::print("`run --dry-run --device {}` prints the rows\n", run.gpus.front().device());
}

// All processes would refuse a command that the first GPU's process refuses. A new run leaves no
// folder then.
void require_usable(const NodeRun& run, Pass pass) {
  const auto refused = std::ranges::find_if(
      run.gpus, [&](const Gpu& gpu) { return gpu.at(pass).exit == int(ExitCode::usage); });
  if (refused == run.gpus.end()) return;
  std::error_code ignored;
  const bool is_new = !run.is_resumed() && refused == run.gpus.begin() && pass == Pass::isolated;
  if (is_new) std::filesystem::remove_all(run.folder, ignored);  // was made here, or found empty
  if (is_new || run.is_resumed()) throw UsageError(refused->at(pass).reason);
}

// Keeps other processes of this command out of the folder until this one ends. A file system
// without locks keeps none out.
void lock_folder(const std::filesystem::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file >= 0 && !lock_file(file)) refuse_second_run(folder);
}

// The rows of a loaded pass that goes on ran without the load of GPUs that were done before.
void note_load_of_resumed(const NodeRun& run) {
  const auto done = std::ranges::count_if(
      run.gpus, [](const Gpu& gpu) { return gpu.at(Pass::loaded).state == State::done; });
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

NodeRun new_run(const NodeRequest& request, const Words& command_line) {
  return {.folder = {},
          .command_line = command_line,
          .budget_s = request.budget_s,
          .gpus = find_node_gpus(request.device),
          .started = timestamp(),
          .ended = {},
          .exit = {}};
}

NodeRun resumed_run(const std::string& folder) {
  lock_folder(folder);  // first: the run that holds it changes node.json until it ends
  NodeRun run = read_node_run(folder);
  require_same_gpus(run, find_node_gpus(""));
  run.resumed.push_back(timestamp());
  return run;
}

}  // namespace
}  // namespace node

ExitCode measure_node(const NodeRequest& request, const std::vector<std::string>& command_line) {
  node::NodeRun run = request.resume.empty() ? node::new_run(request, command_line)
                                             : node::resumed_run(request.resume);
  node::require_enough(run);
  if (request.dry_run) {
    node::print_dry_run(run);
    return ExitCode::fine;
  }
  if (run.is_resumed()) {
    node::note_load_of_resumed(run);
  } else {
    run.folder = node::new_folder(request.out);
    node::lock_folder(run.folder);
  }
  listen_for_signals();
  run.write();
  node::measure(run, request);
  const node::RowsOfNode rows = node::read_rows(run);
  const bool wrong = std::ranges::any_of(rows.odd_bits, &node::OddBits::wrong);
  run.exit = std::max({run.code(), signalled() ? int(ExitCode::undecided) : 0,
                       wrong ? int(ExitCode::row_failed) : 0});
  run.ended = timestamp();
  run.interrupted = signalled();
  run.write();
  std::cout << node::table_of(run, rows) << std::flush;
  if (signalled()) {
    print_problem(
        "interrupted; finished rows are kept, `run --concurrent --resume DIR` measures the rest");
  }
  write_error(fmt::format("results: {}\n", printable(run.folder.string())));
  return static_cast<ExitCode>(*run.exit);
}

}  // namespace ridgebench
