#include "harness/measure/duel/processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "harness/base/loaded_kernels.hpp"
#include "harness/base/process.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/measure/duel/combine.hpp"
#include "harness/measure/failure.hpp"
#include "harness/measure/turns.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr int kTick_ms = 100;

std::vector<std::string> arguments_of(const DuelCase& duel, const DuelSettings& settings,
                                      int process) {
  std::vector<std::string> arguments{
      "ridgebench",
      "duel",
      std::string(duel.first.technique.name),
      std::string(duel.second.technique.name),
      fmt::format("--op={}", duel.first.operation->name),
      fmt::format("--format={}", duel.first.format.name()),
      fmt::format("--shape={}", duel.first.shape.text()),
      fmt::format("--regime={}", name(duel.first.regime)),
      fmt::format("--device={}",
                  settings.device.empty() ? duel.first.device->name() : settings.device),
      fmt::format("--seconds={:.6f}", duel.seconds / duel.processes),
      fmt::format("--seed={}", settings.seed + static_cast<std::uint64_t>(process)),
      fmt::format("--fill={}", name(settings.fill)),
      kOneProcess};
  if (!settings.early_launches) arguments.emplace_back("--no-early");
  add_load_arguments(arguments);
  return arguments;
}

// A process of this program, whose standard output is read.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    output_ = ends[0];
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ == 0) {  // only async-signal-safe calls from here on
      die_with_parent(parent);
      dup2(ends[1], STDOUT_FILENO);
      dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);  // the notes on the device came already
      process_start().execute_itself(pointers.data());
      _exit(static_cast<int>(ExitCode::internal));
    }
    close(ends[1]);
    if (process_ < 0) {
      close(output_);
      throw std::runtime_error("cannot start another process");
    }
  }
  Child(const Child&) = delete;  // owns a process
  Child& operator=(const Child&) = delete;
  ~Child() {
    close(output_);
    if (!ended_) {
      kill(process_, SIGKILL);
      static_cast<void>(wait());
    }
  }

  // Waits up to a tick for more output. Returns false at its end.
  bool read(std::string& text) const {
    pollfd ready{.fd = output_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, kTick_ms) <= 0) return true;
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(output_, bytes.data(), bytes.size());
    if (count <= 0) return count < 0 && errno == EINTR;
    text.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
  }

  // Returns the status of waitpid.
  int wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
    ended_ = true;
    return status;
  }

 private:
  int output_ = -1;
  pid_t process_ = -1;
  bool ended_ = false;
};

std::string death(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("a process of the duel was ended by {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }
  return fmt::format("a process of the duel ended with code {} and without a record",
                     WEXITSTATUS(status));
}

// Throws std::runtime_error if the process yields no record.
DuelRecord measure_in_one(const DuelCase& duel, const DuelSettings& settings, int process,
                          const std::function<bool()>& stop) {
  // As the watchdog does, a tick counts time in which this process could run. On a crowded machine
  // the other process gets far less of it.
  constexpr double kCrowded = 10;
  const double patience_s = kCrowded * duel_hangs_after_s(duel.seconds / duel.processes);
  Child child(arguments_of(duel, settings, process));
  std::string text;
  Stopwatch clock;
  double waited_s = 0;
  while (child.read(text)) {
    if (stop()) throw Interrupted();
    waited_s += std::min(clock.seconds(), 2e-3 * kTick_ms);
    clock = Stopwatch();
    if (waited_s > patience_s) throw std::runtime_error("a launch did not return: hung");
  }
  const int status = child.wait();
  if (stop()) throw Interrupted();
  if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::device_lost)) {
    throw DeviceError("a process of the duel lost its device");
  }
  if (!WIFEXITED(status) || text.empty()) throw std::runtime_error(death(status));
  return parse_duel(text, "a process of the duel");
}

}  // namespace

DuelRecord measure_in_processes(const DuelCase& duel, const DuelSettings& settings,
                                const std::function<bool()>& stop) {
  const Stopwatch clock;
  DuelRecord record = duel.describe();
  measure_or_fail(record, "duel", [&] {
    std::vector<DuelRecord> records;
    for (int process = 0; process < duel.processes; ++process) {
      records.push_back(measure_in_one(duel, settings, process, stop));
      if (records.back().status != Status::ok) break;
    }
    record = combine(records);
  });
  record.seed = settings.seed;
  record.fill = name(settings.fill);
  record.duration_s = clock.seconds();
  return record;
}

}  // namespace ridgebench
