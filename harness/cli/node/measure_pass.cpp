#include "harness/cli/node/measure_pass.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>

#include "harness/base/stopwatch.hpp"
#include "harness/cli/node/gpu_process.hpp"
#include "harness/cli/node/reason.hpp"
#include "harness/measure/campaign.hpp"
#include "harness/results/worn.hpp"
#include "kernels/common/error.hpp"
#include "roofline/units.hpp"

namespace ridgebench::node {
namespace {

constexpr unsigned kTick_us = 20'000;
// A process that was asked to end finishes its present samples; then it is killed.
constexpr double kGrace_s = 5;

// A process and what it does.
class Task {
 public:
  Task(const NodeRun& run, Gpu& gpu, Pass pass, std::vector<std::string> command)
      : work_(run.work),
        pass_(&gpu.at(pass)),
        folder_(run.folder / pass_->folder),
        lines_(folder_ / run.work->file) {
    std::error_code refused;  // opening the log then says so
    std::filesystem::create_directories(folder_, refused);
    std::error_code absent;
    const std::uintmax_t logged = std::filesystem::file_size(folder_ / kLogFile, absent);
    if (!absent) log_begin_ = logged;
    process_ = std::make_unique<GpuProcess>(std::move(command), folder_ / kLogFile);
    pass_->state = State::running;
    begin();
  }

  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool at_gate() const { return at_gate_; }
  [[nodiscard]] std::size_t lines() const { return lines_written_; }

  // The pass begins now; opens the gate for a process that waits there.
  void begin() {
    pass_->started = timestamp();
    heard_s_ = steady_s();
    if (at_gate_) process_->signal(SIGCONT);
    at_gate_ = false;
  }

  // Asks the process to end, for this reason.
  void end(State state, const std::string& reason) {
    if (ended_ || asked_s_) return;
    asked_s_ = steady_s();
    ended_as_ = state;
    pass_->reason = reason;
    process_->signal(SIGTERM);
    process_->signal(SIGCONT);
  }

  // Returns true when the process has ended.
  bool step(double limit_s) {
    const GpuProcess::Change change = process_->poll();
    if (change == GpuProcess::Change::stopped) at_gate_ = true;
    if (change == GpuProcess::Change::ended) {
      conclude();
      return true;
    }
    count_lines();
    const double now = steady_s();
    if (!at_gate_ && now - heard_s_ > limit_s) {
      end(State::hung,
          fmt::format("ended no {} within {:g} s, and was killed", work_->line, limit_s));
    }
    if (asked_s_ && now - *asked_s_ > kGrace_s) process_->signal(SIGKILL);
    if (!asked_s_ || now - *asked_s_ < 2 * kGrace_s) return false;
    close(ended_as_);  // hangs inside a call of the driver, where no signal ends it
    return true;
  }

 private:
  void count_lines() {
    std::error_code absent;
    const auto bytes = std::filesystem::file_size(lines_, absent);
    if (absent || bytes == bytes_) return;
    bytes_ = bytes;
    heard_s_ = steady_s();
    std::ifstream file(lines_);
    lines_written_ =
        static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }

  void conclude() {
    count_lines();
    read_worn();
    const int status = process_->status();
    if (WIFEXITED(status)) pass_->exit = WEXITSTATUS(status);
    if (asked_s_) return close(ended_as_);
    if (WIFSIGNALED(status)) {
      pass_->reason =
          fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
      return close(State::killed);
    }
    if (*pass_->exit == 0) return close(State::done);
    const Failure failure = failure_of(*work_, folder_, *pass_->exit, log_begin_);
    pass_->reason = failure.reason;
    close(failure.hung ? State::hung : State::failed);
  }

  void read_worn() {
    try {
      pass_->worn = recorded_worn_in(folder_.string());
    } catch (const UsageError&) {  // the process ended before it described its run
      pass_->worn.clear();
    }
  }

  void close(State state) {
    pass_->state = state;
    pass_->ended = timestamp();
    ended_ = true;
  }

  const NodeWork* work_;
  GpuPass* pass_;
  std::filesystem::path folder_;
  std::filesystem::path lines_;   // the file of results
  std::uintmax_t log_begin_ = 0;  // of this process: an earlier one may have written before
  std::unique_ptr<GpuProcess> process_;
  bool at_gate_ = false;
  bool ended_ = false;
  double heard_s_ = 0;        // when it last wrote a line
  std::uintmax_t bytes_ = 0;  // of its results
  std::size_t lines_written_ = 0;
  std::optional<double> asked_s_;  // when it was asked to end
  State ended_as_ = State::killed;
};

using Tasks = std::vector<std::unique_ptr<Task>>;

bool all(const Tasks& tasks, bool (Task::*are)() const) {
  return std::ranges::all_of(tasks, [&](const auto& task) { return (*task.*are)(); });
}

std::string how_far(const NodeRun& run, const Tasks& tasks, Pass pass, const std::string& where) {
  std::size_t lines = 0;
  for (const auto& task : tasks) lines += task->lines();
  return fmt::format("{}: {}, {}", name(pass), where, counted(lines, run.work->line));
}

// Waits until all have ended, and opens the gate when all that still run wait there.
void wait_for(const NodeRun& run, Pass pass, const std::string& where, Tasks& tasks,
              const PassSettings& settings) {
  bool gate_is_shut = pass != Pass::isolated;
  std::string shown;
  while (!all(tasks, &Task::ended)) {
    usleep(kTick_us);
    for (const auto& task : tasks) {
      if (signalled()) task->end(State::killed, kInterrupted);
      if (!task->ended() && task->step(settings.limit_s)) run.write();
    }
    const bool ready = std::ranges::all_of(
        tasks, [](const auto& task) { return task->ended() || task->at_gate(); });
    if (gate_is_shut && ready) {
      gate_is_shut = false;
      for (const auto& task : tasks) {
        if (!task->ended()) task->begin();
      }
      run.write();
    }
    const std::string now = how_far(run, tasks, pass, where);
    if (now != shown) settings.progress->show(shown = now);
  }
}

bool was_lost(const Gpu& gpu) {
  return gpu.at(Pass::isolated).code() >= int(ExitCode::device_lost);
}

void leave_out(Gpu& gpu) {
  GpuPass& loaded = gpu.at(Pass::loaded);
  loaded.state = State::failed;
  loaded.reason =
      fmt::format("not measured: in the isolated pass, {}", gpu.at(Pass::isolated).reason);
}

}  // namespace

void measure_pass(NodeRun& run, Pass pass, const PassSettings& settings) {
  const bool in_turn = pass == Pass::isolated;
  Tasks together;
  for (std::size_t i = 0; i < run.gpus.size() && !signalled(); ++i) {
    Gpu& gpu = run.gpus[i];
    if (gpu.at(pass).state == State::done) continue;  // of a run that goes on
    if (!in_turn && was_lost(gpu)) {
      leave_out(gpu);
      continue;
    }
    std::vector<std::string> command = settings.command(gpu);
    if (!in_turn) command.push_back(fmt::format("{}={}", kTogether, run.gpus.size()));
    together.push_back(std::make_unique<Task>(run, gpu, pass, std::move(command)));
    run.write();
    if (!in_turn) continue;
    const std::string where = fmt::format("{} ({} of {})", gpu.device(), i + 1, run.gpus.size());
    wait_for(run, pass, where, together, settings);
    together.clear();
    if (gpu.at(pass).exit == int(ExitCode::usage)) break;  // every other would refuse it, too
  }
  wait_for(run, pass, fmt::format("{} GPUs at the same time", together.size()), together, settings);
  run.write();
}

}  // namespace ridgebench::node
