// A process that has loaded a file of own kernels. It computes the functions of the file's
// operations and launches its techniques, and this process verifies and times what it does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/base/loaded_kernels.hpp"
#include "harness/device/isolated/message.hpp"
#include "harness/device/isolated/shared_memory.hpp"
#include "harness/device/isolated/waiting.hpp"
#include "kernels/common/queue.hpp"

namespace ridgebench {

// The process ended in the midst of a command. The text says how: `crashed: SIGSEGV, ...`.
class KernelProcessEnded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The first argument of the program of such a process.
inline constexpr const char* kServeKernels = "serve-kernels";
// The command of the Python package that serves a Python file.
inline constexpr const char* kServePython = "serve";
// The number of the first command of a process, which asks for the description.
inline constexpr std::uint64_t kFirstCommand = 1;

class KernelProcess {
 public:
  // Starts the process, which loads the file; none if the path is empty. `file` is the name that
  // messages have. Throws UsageError if the file cannot be loaded.
  KernelProcess(const std::string& file, const LoadedKernels& kernels);
  KernelProcess(const KernelProcess&) = delete;  // owns a process
  KernelProcess& operator=(const KernelProcess&) = delete;
  // Kills the process.
  ~KernelProcess();

  // Operations and techniques that the file registers.
  [[nodiscard]] const nlohmann::json& description() const { return description_; }
  [[nodiscard]] bool ended() const { return process_ < 0; }

  // The functions below throw KernelProcessEnded, and what the file's code throws: Unsupported,
  // OutOfMemory, std::bad_alloc or DeviceError as such, all else as std::runtime_error.

  // Opens the device of the queue in the process, unless it has one: threads of this host, or the
  // GPU of a GpuQueue. A process has one device; std::logic_error for another.
  void use(const Queue& queue);
  // Sends a command and returns the answer's value.
  nlohmann::json ask(const nlohmann::json& command);
  // {arena, offset} of an address of shared memory. Throws std::logic_error for any other.
  nlohmann::json place_of(const void* address);
  // Binds a launch and returns its number. What the file's code throws meanwhile, the next command
  // throws.
  std::uint64_t bind(nlohmann::json command);
  // Launches each once. The process is then stopped until the next command, so that no thread of it
  // can add to the output of a launch that has returned.
  void run(const std::vector<std::uint64_t>& launches);
  // Frees a launch or a plan before the next command.
  void release(std::uint64_t number) { released_.push_back(number); }

  struct Batch {
    double claimed_s;  // by the clock of the process
    double seen_s;     // by that of this process, from the command to the answer
    // The part of it for which the two processes waited for a processor that others had.
    double waited_s;
  };
  // Launches all, `repeats` times.
  Batch time(std::span<const std::uint64_t> launches, std::uint64_t repeats);

 private:
  KernelMessage exchange(KernelMessage command);
  // Lets the process go on that freeze() stopped.
  void wake();
  void freeze();
  void map(const SharedArena& arena);
  // Waits for the end of the process and throws.
  [[noreturn]] void throw_end();

  pid_t process_ = -1;
  int socket_ = -1;
  bool frozen_ = false;
  std::optional<std::string> device_;            // that use() opened
  std::uint64_t number_ = 0;                     // of the last command
  std::uint64_t last_launch_ = 0;                // number
  std::map<std::uint64_t, std::size_t> mapped_;  // bytes in use of each arena
  std::vector<std::uint64_t> released_;          // launches and plans
  std::optional<WaitingTime> own_waiting_;
  std::optional<WaitingTime> other_waiting_;
  nlohmann::json description_;
};

// Kills the process that works on a command, so that the command throws KernelProcessEnded with
// this text. Returns false if none does. Any thread may call it.
bool end_busy_kernel_process(const std::string& reason);

}  // namespace ridgebench
