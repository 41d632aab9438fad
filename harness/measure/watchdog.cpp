#include "harness/measure/watchdog.hpp"

#include <algorithm>
#include <utility>

namespace ridgebench {

Watchdog::Watchdog(std::function<void()> expired)
    : expired_(std::move(expired)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::scoped_lock lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::start(std::chrono::duration<double> limit) {
  const std::scoped_lock lock(mutex_);
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::duration<double> longest = std::chrono::years(1);  // the clock ends at 292
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::min(limit, longest));
  changed_.notify_one();
}

void Watchdog::stop() {
  const std::scoped_lock lock(mutex_);
  deadline_.reset();
  changed_.notify_one();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!done_) {
    if (!deadline_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() >= *deadline_) {
      expired_();
    } else {
      changed_.wait_until(lock, *deadline_);
    }
  }
}

}  // namespace ridgebench
