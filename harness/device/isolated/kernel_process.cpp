#include "harness/device/isolated/kernel_process.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <utility>

#include "harness/base/process.hpp"
#include "harness/base/python/python_package.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/base/sudden_end.hpp"
#include "harness/device/isolated/gpu/queue.hpp"
#include "harness/device/isolated/rethrow.hpp"
#include "harness/device/isolated/start_process.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// The process that works on a command.
struct BusyKernels {
  pid_t process = -1;
  std::string killed;  // why this process killed it
};
std::mutex g_busy_mutex;
BusyKernels g_busy;

void set_busy(pid_t process) {
  const std::scoped_lock lock(g_busy_mutex);
  g_busy = {.process = process, .killed = {}};
}

std::string killed_because() {
  const std::scoped_lock lock(g_busy_mutex);
  return g_busy.killed;
}

class BusyScope {
 public:
  explicit BusyScope(pid_t process) { set_busy(process); }
  BusyScope(const BusyScope&) = delete;  // ends once
  BusyScope& operator=(const BusyScope&) = delete;
  ~BusyScope() { set_busy(-1); }
};

// Signals the process and those that its kernels forked. A process that left the group gets
// nothing.
bool signal_group(pid_t process, int signal) { return process > 0 && kill(-process, signal) == 0; }

int wait_for(pid_t process, int options) {
  int status = 0;
  while (waitpid(process, &status, options) < 0 && errno == EINTR) continue;
  return status;
}

// "SIGSEGV, a wrong address"
std::string cause_of_end(int status) {
  if (!WIFSIGNALED(status)) return kEndCauses.back().name;
  const int signal = WTERMSIG(status);
  const auto known = std::ranges::find(kEndCauses, signal, &EndCause::signal);
  if (known != kEndCauses.end()) return known->name;
  return fmt::format("signal {}, {}", signal, strsignal(signal));
}

std::pair<pid_t, int> start_kernels(const std::string& file, const LoadedKernels& kernels) {
  std::string program = kThisProgram;
  std::string needs;
  std::vector<std::string> command{"ridgebench", kServeKernels, file, kernels.path.string()};
  if (kernels.is_python()) {
    command = find_python_package().command(
        {kServePython, file, kernels.path.string(), kernels.attribute});
    program = command.front();
    needs = fmt::format("; a Python file {}", kNeedsPython);
  }
  KernelMessage no_start = KernelMessage::of_json(
      MessageKind::error,
      {{"kind", "usage"},
       {"text", fmt::format("--load {}: cannot run {}{}", file, program, needs)}});
  no_start.number = kFirstCommand;
  return start_with_socket(program, std::move(command), no_start);
}

}  // namespace

bool end_busy_kernel_process(const std::string& reason) {
  const std::scoped_lock lock(g_busy_mutex);
  if (g_busy.process < 0) return false;
  g_busy.killed = reason;
  signal_group(g_busy.process, SIGKILL);
  return true;
}

KernelProcess::KernelProcess(const std::string& file, const LoadedKernels& kernels) {
  std::tie(process_, socket_) = start_kernels(file, kernels);
  own_waiting_.emplace(getpid());
  other_waiting_.emplace(process_);
  try {
    description_ = ask({{"do", "describe"}});
  } catch (const KernelProcessEnded& end) {
    std::string_view how = end.what();
    constexpr std::string_view kCrashed = "crashed: ";
    if (how.starts_with(kCrashed)) how.remove_prefix(kCrashed.size());
    close(socket_);
    throw UsageError(
        fmt::format("--load {}: it ended the program while it was loaded: {}", file, how));
  } catch (...) {
    signal_group(process_, SIGKILL);
    wait_for(process_, 0);
    close(socket_);
    throw;
  }
}

KernelProcess::~KernelProcess() {
  close(socket_);
  if (process_ < 0) return;
  signal_group(process_, SIGKILL);
  wait_for(process_, 0);
}

void KernelProcess::wake() {
  if (std::exchange(frozen_, false)) signal_group(process_, SIGCONT);
  if (released_.empty()) return;
  send_message(socket_, KernelMessage::of_numbers(MessageKind::release, released_));
  released_.clear();
}

void KernelProcess::freeze() {
  frozen_ = signal_group(process_, SIGSTOP);
  siginfo_t stopped{};
  while (waitid(P_PID, static_cast<id_t>(process_), &stopped, WSTOPPED | WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
  if (stopped.si_code == CLD_STOPPED) wait_for(process_, WUNTRACED);  // takes the report
}

// Once a process ends, a signal no longer changes its status. One that closed its socket and goes
// on ends here.
void KernelProcess::throw_end() {
  const std::string killed = killed_because();
  signal_group(process_, SIGKILL);
  const int status = wait_for(std::exchange(process_, -1), 0);
  throw KernelProcessEnded(killed.empty() ? "crashed: " + cause_of_end(status) : killed);
}

KernelMessage KernelProcess::exchange(KernelMessage command) {
  if (ended()) throw KernelProcessEnded("the process of the kernels has ended");
  wake();
  const BusyScope busy(process_);
  command.number = ++number_;
  // A process that has ended takes no command, but may have said why before.
  static_cast<void>(send_message(socket_, command));
  std::optional<KernelMessage> answer = receive_message(socket_);
  if (!answer) throw_end();
  if (answer->descriptor >= 0) close(std::exchange(answer->descriptor, -1));
  if (answer->number != number_) {
    signal_group(process_, SIGKILL);
    wait_for(std::exchange(process_, -1), 0);
    throw KernelProcessEnded("crashed: an answer that belongs to another command");
  }
  if (answer->kind == MessageKind::error) rethrow(answer->json());
  return std::move(*answer);
}

void KernelProcess::use(const Queue& queue) {
  const auto* const gpu = dynamic_cast<const GpuQueue*>(&queue);
  const std::string device = gpu != nullptr ? gpu->device() : "cpu";
  if (device_) {
    if (*device_ == device) return;
    throw std::logic_error("a process of own kernels that has " + *device_ + " cannot use " +
                           device);
  }
  if (gpu != nullptr) {
    ask({{"do", "open"}, {"device", device}, {"early", queue.early_launches()}});
  } else {
    ask({{"do", "threads"}, {"threads", queue.threads()}});
  }
  device_ = device;
}

nlohmann::json KernelProcess::ask(const nlohmann::json& command) {
  return exchange(KernelMessage::of_json(MessageKind::ask, command)).json();
}

// Forgets arenas that were freed. Then there is at most one new one.
void KernelProcess::map(const SharedArena& arena) {
  wake();
  std::erase_if(mapped_, [&](const auto& one) {
    const std::uint64_t number = one.first;
    if (is_allocated(number)) return false;
    send_message(socket_, KernelMessage::of_numbers(MessageKind::unmap, {number}));
    return true;
  });
  KernelMessage map = KernelMessage::of_numbers(
      MessageKind::map, {arena.number, arena.bytes, arena.writable ? 1U : 0U});
  map.descriptor = arena.descriptor;
  exchange(std::move(map));
  mapped_[arena.number] = 0;
}

nlohmann::json KernelProcess::place_of(const void* address) {
  const std::optional<SharedPlace> place = shared_place(address);
  if (!place) throw std::logic_error("an operand of an own kernel is not in shared memory");
  const SharedArena& arena = place->arena;
  if (!mapped_.contains(arena.number)) map(arena);
  if (std::size_t& used = mapped_[arena.number]; used < arena.used) {
    used = arena.used;
    wake();
    send_message(socket_,
                 KernelMessage::of_numbers(MessageKind::populate, {arena.number, arena.used}));
  }
  return {arena.number, place->offset};
}

std::uint64_t KernelProcess::bind(nlohmann::json command) {
  if (ended()) throw KernelProcessEnded("the process of the kernels has ended");
  wake();
  command["number"] = ++last_launch_;
  send_message(socket_, KernelMessage::of_json(MessageKind::bind, command));
  return last_launch_;
}

void KernelProcess::run(const std::vector<std::uint64_t>& launches) {
  exchange(KernelMessage::of_numbers(MessageKind::run, launches));
  freeze();
}

KernelProcess::Batch KernelProcess::time(std::span<const std::uint64_t> launches,
                                         std::uint64_t repeats) {
  std::vector<std::uint64_t> numbers{repeats};
  for (const std::uint64_t launch : launches) {
    const bool next = numbers.size() > 1 && numbers[numbers.size() - 2] + numbers.back() == launch;
    if (next) {
      ++numbers.back();
    } else {
      numbers.insert(numbers.end(), {launch, 1});
    }
  }
  KernelMessage command = KernelMessage::of_numbers(MessageKind::time, numbers);
  wake();
  const double waited_s = own_waiting_->seconds() + other_waiting_->seconds();
  const Stopwatch clock;
  const KernelMessage answer = exchange(std::move(command));
  const double seen_s = clock.seconds();
  const auto claimed_s = std::bit_cast<double>(answer.numbers(1).front());
  if (!(claimed_s >= 0)) throw std::runtime_error("the kernel's process claims a time below 0");
  return {.claimed_s = claimed_s,
          .seen_s = seen_s,
          .waited_s = own_waiting_->seconds() + other_waiting_->seconds() - waited_s};
}

}  // namespace ridgebench
