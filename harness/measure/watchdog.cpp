#include "harness/measure/watchdog.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "harness/base/sudden_end.hpp"
#include "harness/device/own_work.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr double kTicks = 64;  // of a limit

}  // namespace

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
  constexpr std::chrono::duration<double> longest = std::chrono::years(1);  // the clock ends at 292
  left_ = std::min(limit, longest);
  tick_ = *left_ / kTicks;
  returns_ = OwnWork::returns();
  changed_.notify_one();
}

void Watchdog::stop() {
  const std::scoped_lock lock(mutex_);
  left_.reset();
  changed_.notify_one();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!done_) {
    if (!left_) {
      changed_.wait(lock);
    } else if (left_->count() <= 0) {
      expired_();
      left_.reset();  // it ended what hung
    } else if (changed_.wait_for(lock, tick_) == std::cv_status::timeout && left_) {
      const std::uint64_t returns = OwnWork::returns();
      if (std::exchange(returns_, returns) != returns) left_ = kTicks * tick_;
      if (!OwnWork::goes_on()) *left_ -= tick_;
    }
  }
}

void end_hung(ResultsDirectory& directory, const nlohmann::ordered_json& record,
              std::string_view kept) {
  try {
    directory.append(record);
  } catch (const std::exception& error) {
    std::cerr << "ridgebench: " << error.what() << '\n';
  }
  std::cerr << "ridgebench: " << record.at("id").get<std::string>() << " hung; earlier " << kept
            << " are in " << directory.path().string()
            << std::endl;      // NOLINT(performance-avoid-endl): _Exit flushes nothing
  before_sudden_end(nullptr);  // the row is written
  std::_Exit(static_cast<int>(ExitCode::row_failed));
}

}  // namespace ridgebench
