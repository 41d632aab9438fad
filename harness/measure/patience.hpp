// Lets rows wait until the threads of a host are where the guest is told that they are; see
// placement.hpp.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/base/stopwatch.hpp"

namespace ridgebench {

class Patience {
 public:
  // Waits at most `seconds`, all rows together.
  Patience(Device& device, double seconds) : device_(&device), left_s_(seconds) {}

  void begin_row();
  // To be called before samples are taken: returns when the threads are in place, when `stop` says
  // so or when it has waited long enough, and tells how many seconds it waited.
  double wait(const std::function<bool()>& stop);
  // Whether half of the looks at the threads, or more, found them on different dies.
  [[nodiscard]] bool apart() const;
  // Of the row: core_to_core_s, {median, min, max}, and waited_s; null where nobody moves threads.
  [[nodiscard]] nlohmann::ordered_json telemetry() const;

 private:
  [[nodiscard]] double longest_wait_s(Where where) const;

  Device* device_;
  double left_s_;
  Where in_vain_ = Where::in_place;  // where the last wait left the threads
  // Of the row.
  Stopwatch since_look_;
  std::vector<double> handoffs_s_;
  double waited_s_ = 0;
};

}  // namespace ridgebench
