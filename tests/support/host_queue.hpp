// A Queue for tests of host kernels: a few threads, no device behind it. Its memory is NaN in every
// format until it is written, so that what a kernel reads unwritten shows.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>

#include "kernels/common/queue.hpp"

namespace ridgebench {

class HostQueue : public Queue {
 public:
  explicit HostQueue(int threads = 2) : threads_(threads) {}

  [[nodiscard]] int threads() const override { return threads_; }

  [[nodiscard]] std::shared_ptr<void> allocate(std::size_t bytes) override {
    constexpr std::size_t kAlignment = 4096;
    const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const std::shared_ptr<void> memory(std::aligned_alloc(kAlignment, whole), std::free);
    std::memset(memory.get(), 0xff, whole);
    return memory;
  }

  // No technique may depend on how fast a test runs.
  [[nodiscard]] double time(const Launch& launch) override {
    launch();
    return 1e-3;
  }
  // Launches nothing: a kernel that a processor emulates is slow.
  [[nodiscard]] std::vector<double> time_turns(std::span<const Turn> turns) override {
    return std::vector<double>(turns.size(), 1e-3);
  }

 private:
  int threads_;
};

}  // namespace ridgebench
