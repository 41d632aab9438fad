#include "harness/cli/node/node_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/cli/machine_facts.hpp"
#include "harness/measure/signals.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/results_directory.hpp"

namespace ridgebench::node {
namespace {

// The options of the command that its processes get in another form, or not at all.
constexpr std::array kWithValue{"--device", "--out", "--budget", "--hang-limit"};
constexpr std::array kFlags{"--concurrent", "--dry-run", "--json"};

std::vector<std::string> words_for_all(const std::vector<std::string>& line) {
  const auto is = [](const std::string& word, const char* option) {
    return word == option || word.starts_with(std::string(option) + '=');
  };
  std::vector<std::string> words;
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

}  // namespace

NodeRun new_run(const NodeWork& work, const NodeRequest& request,
                const std::vector<std::string>& command_line) {
  return {.work = &work,
          .node = node_name(),
          .folder = {},
          .command_line = command_line,
          .budget_s = request.budget_s,
          .gpus = find_node_gpus(request.device),
          .started = timestamp(),
          .ended = {},
          .exit = {}};
}

void print_dry_run(const NodeRun& run,
                   const std::function<std::optional<double>(Pass)>& seconds_of) {
  for (const Pass pass : run.work->passes) {
    for (const Gpu& gpu : run.gpus) {
      if (gpu.at(pass).state == State::done) continue;
      const auto seconds = seconds_of(pass);
      fmt::print("{:<8} {}{}\n", name(pass), gpu.device(),
                 seconds ? fmt::format(" {:g} s", *seconds) : "");
    }
  }
  fmt::print("`{} --dry-run --device {}` prints the {}\n", run.work->command,
             run.gpus.front().device(), run.work->parts);
}

std::vector<std::string> words_of_gpu(const NodeRun& run, Pass pass, const Gpu& gpu) {
  std::vector<std::string> words = words_for_all(run.command_line);
  words.push_back("--device=" + gpu.device());
  words.push_back("--out=" + (run.folder / gpu.at(pass).folder).string());
  return words;
}

void make_folder(NodeRun& run, const std::string& out) {
  run.folder = new_folder(out);
  lock_folder(run.folder);
}

void lock_folder(const std::filesystem::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file >= 0 && !lock_file(file)) refuse_second_run(folder);
}

void require_usable(const NodeRun& run, Pass pass) {
  const auto refuses = [&](const Gpu& gpu) { return gpu.at(pass).exit == int(ExitCode::usage); };
  const auto refused = std::ranges::find_if(run.gpus, refuses);
  if (refused == run.gpus.end()) return;
  std::error_code ignored;
  const bool is_new = !run.is_resumed() && pass == run.work->passes.front() &&
                      std::ranges::all_of(run.gpus, [&](const Gpu& gpu) {
                        return refuses(gpu) || gpu.at(pass).state == State::waiting;
                      });
  if (is_new) std::filesystem::remove_all(run.folder, ignored);  // was made here, or found empty
  if (is_new || run.is_resumed()) throw UsageError(refused->at(pass).reason);
}

void end_run(NodeRun& run, int code) {
  run.exit = std::max({run.code(), signalled() ? int(ExitCode::undecided) : 0, code});
  run.ended = timestamp();
  run.interrupted = signalled();
  run.write();
}

}  // namespace ridgebench::node
