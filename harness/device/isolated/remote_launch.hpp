// Launches of techniques in a process of their own.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/device/isolated/kernels_file.hpp"
#include "harness/device/timing.hpp"
#include "kernels/common/queue.hpp"

namespace ridgebench {

// This process's observations of the batches of a rotation.
struct Claims {
  double command_s = 0;             // of a command without launches
  bool asynchronous = false;        // the device starts a batch after some of it was enqueued
  std::vector<double> seen_s = {};  // per launch, without that time and without waiting

  // For which the device may have waited for the host in a batch of so many launches.
  [[nodiscard]] double enqueued_s(double launches) const;
};

// A launch in the other process, which frees it when the last copy goes. As a Launch,
// std::function::target finds it.
class RemoteLaunch {
 public:
  // The launch keeps the plan alive.
  RemoteLaunch(std::shared_ptr<KernelProcess> process, std::uint64_t number, Plan plan);
  // Launches once and waits.
  void operator()() const;

  [[nodiscard]] KernelProcess& process() const { return *held_->process; }
  [[nodiscard]] std::uint64_t number() const { return held_->number; }
  // State that the launches of a rotation share; null before begin_claims().
  [[nodiscard]] Claims* claims() const { return held_->claims.get(); }
  void share(const std::shared_ptr<Claims>& claims) const { held_->claims = claims; }

 private:
  struct Held {
    Held(std::shared_ptr<KernelProcess> of, std::uint64_t launch, Plan kept);
    Held(const Held&) = delete;  // frees the launch once
    Held& operator=(const Held&) = delete;
    ~Held();

    std::shared_ptr<KernelProcess> process;
    std::uint64_t number;
    Plan plan;
    std::shared_ptr<Claims> claims;
  };
  std::shared_ptr<Held> held_;
};

// Implementation::bind of a technique that runs in a process of its own.
class RemoteBind {
 public:
  // `implementation` is the technique's number in the file. `here` binds a technique of a GPU in
  // this process; a host's has none.
  RemoteBind(std::shared_ptr<KernelsFile> file, std::size_t implementation, Bind here = {})
      : file_(std::move(file)), implementation_(implementation), here_(std::move(here)) {}
  Launch operator()(Queue& queue, const Plan& plan, const Shape& shape,
                    std::span<void* const> operands) const;

  [[nodiscard]] bool of_gpu() const { return here_ != nullptr; }

 private:
  std::shared_ptr<KernelsFile> file_;
  std::size_t implementation_;
  Bind here_;
};

// A plan of the other process, which frees it with this one.
struct RemotePlan {
  RemotePlan(std::shared_ptr<KernelProcess> of, std::uint64_t plan, std::string chosen);
  RemotePlan(const RemotePlan&) = delete;  // frees the plan once
  RemotePlan& operator=(const RemotePlan&) = delete;
  ~RemotePlan();

  std::shared_ptr<KernelProcess> process;
  std::uint64_t number;
  std::string choice;
};

// True if a technique runs in a process of its own, on shared memory.
bool is_remote(const Implementation& implementation);

// True if an own kernel is isolated: it runs in a process of its own, and this process has loaded
// no file of own kernels. Empty for the kernels of the program.
std::optional<bool> isolation_of(const Implementation& implementation);

// A launch that keeps the plan of its technique alive.
Launch with_plan(const Plan& plan, Launch launch);

// The launch of an own kernel among launches of one technique; null if they are of this process.
const RemoteLaunch* remote(std::span<const Launch> rotation);

// Runs each launch of a rotation once, by one command, and waits. The other process is then stopped
// until the next command. Returns false, and runs nothing, for launches of this process.
bool run_remote(std::span<const Launch> rotation);

// Times a rotation of remote launches, one command for all repeats. The result is the time that the
// other process claims, or what this process saw where that is less.
Timing time_remote(std::span<const Launch> rotation, std::int64_t repeats);

// The other process's report on a launch of a GPU.
Early early_of_remote(const Launch& launch);
std::optional<double> busy_share_of_remote(const Launch& launch);

// Sends the other process a command without launches.
void wake_remote(std::span<const Launch> rotation);

// Measures how long a command without launches takes, and forgets the batches so far. A device is
// `asynchronous` if the other process enqueues a batch before it starts.
void begin_claims(std::span<const Launch> rotation, bool asynchronous);
// Seconds per launch that this process saw since begin_claims(): the lower quartile of the batches,
// without the time of a command, the time for which either process waited for a processor, and, on
// a GPU, that for which the GPU may have waited for the host. Empty for launches of this process.
std::optional<double> seen_s(std::span<const Launch> rotation);

}  // namespace ridgebench
