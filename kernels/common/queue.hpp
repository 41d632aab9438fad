// Where a technique's launches go. One Queue belongs to one Device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ridgebench {

// Enqueues the kernel once and does nothing else. One that waits for the device calls Queue::begin
// first.
using Launch = std::function<void()>;

// One kernel, launched a number of times back to back.
struct Turn {
  const Launch* launch;
  std::int64_t launches;
};

class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;  // owns a stream or a thread team
  Queue& operator=(const Queue&) = delete;
  virtual ~Queue() = default;

  // cudaStream_t on a GPU, nullptr on a host.
  [[nodiscard]] virtual void* stream() const { return nullptr; }
  // Host threads that a kernel may use (the OpenMP team's size); 1 on a GPU.
  [[nodiscard]] virtual int threads() const { return 1; }
  // Device memory, aligned to 256 bytes and not initialised, freed with its last owner. Throws
  // OutOfMemory.
  [[nodiscard]] virtual std::shared_ptr<void> allocate(std::size_t bytes) = 0;
  // The device begins with what it was given, and does not wait until the host has enqueued a whole
  // batch. Called by a launch that waits for the device itself.
  virtual void begin() {}
  // Seconds of one launch, which must have run before, for a technique that tunes itself in
  // prepare.
  [[nodiscard]] virtual double time(const Launch& launch) = 0;
  // Seconds of each turn. A GPU gets the next turn before it has finished the last, so that it
  // stays under load.
  [[nodiscard]] virtual std::vector<double> time_turns(std::span<const Turn> turns) {
    std::vector<double> seconds;
    for (const Turn& turn : turns) {
      double& total = seconds.emplace_back(0);
      for (std::int64_t i = 0; i < turn.launches; ++i) total += time(*turn.launch);
    }
    return seconds;
  }

  // Seconds for which the power limit has lowered the device's clock, since some moment; empty
  // where nothing counts them.
  [[nodiscard]] virtual std::optional<double> power_capped_s() const { return std::nullopt; }

  // True if a kernel may start before the one ahead of it in the stream has ended (programmatic
  // dependent launch).
  [[nodiscard]] bool early_launches() const { return early_launches_; }
  void allow_early_launches(bool allowed) { early_launches_ = allowed; }

 private:
  bool early_launches_ = true;
};

}  // namespace ridgebench
