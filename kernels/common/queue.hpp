// Where a technique's launches go. One Queue belongs to one Device.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace ridgebench {

// Enqueues the kernel once and does nothing else.
using Launch = std::function<void()>;

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
  // Seconds of one launch, which must have run before, for a technique that tunes itself in
  // prepare.
  [[nodiscard]] virtual double time(const Launch& launch) = 0;
};

}  // namespace ridgebench
