// Ends the process if a launch hangs. The program cannot stop a kernel that never returns.
//
// The watchdog counts the time in which the process could run: ticks of its own thread. A process
// that was stopped or suspended for an hour is at most one tick older. Ticks at whose end the
// program fills buffers, computes a reference or compares outputs (OwnWork) do not count. The limit
// begins anew when a launch returns, so that a case of many slow launches does not hang.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <thread>

#include "harness/results/results_directory.hpp"

namespace ridgebench {

class Watchdog {
 public:
  // The watchdog's thread calls `expired` when a case exceeds its limit. `expired` ends the
  // process, or it makes the case go on without what hung.
  explicit Watchdog(std::function<void()> expired);
  Watchdog(const Watchdog&) = delete;  // owns a thread
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  void start(std::chrono::duration<double> limit);
  void stop();

 private:
  void watch();

  std::function<void()> expired_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::duration<double>> left_;  // until the case exceeds its limit
  std::chrono::duration<double> tick_{};
  std::uint64_t returns_ = 0;  // of launches, as OwnWork has counted them
  bool done_ = false;
  std::thread thread_;
};

// Appends the record of a launch that does not return, and ends the process, because that launch
// blocks the main thread. Runs on the watchdog's thread. `kept` names what the folder keeps.
[[noreturn]] void end_hung(ResultsDirectory& directory, const nlohmann::ordered_json& record,
                           std::string_view kept);

}  // namespace ridgebench
