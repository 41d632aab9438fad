#include "harness/measure/patience.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "harness/base/statistics.hpp"
#include "harness/device/cuda/telemetry.hpp"

namespace ridgebench {
namespace {

// A look takes some 20 us.
constexpr double kPeriod_s = 0.01;
constexpr std::chrono::milliseconds kPause{5};
// Of one row. Threads that stay apart for longer are measured so.
constexpr double kLongestApart_s = 20;
// A hypervisor soon notices two busy processors on one core. Where they stay, handing over is fast.
constexpr double kLongestOneCore_s = 5;
// Looks in a row that find threads in place before a wait is over: near a bound one may err.
constexpr int kLooks = 3;

}  // namespace

void Patience::begin_row() {
  handoffs_s_.clear();
  waited_s_ = 0;
}

double Patience::longest_wait_s(Where where) const {
  if (where == in_vain_) return 0;
  const double of_row_s = where == Where::apart ? kLongestApart_s : kLongestOneCore_s;
  return std::min(of_row_s - waited_s_, left_s_);
}

double Patience::wait(const std::function<bool()>& stop) {
  if (!handoffs_s_.empty() && since_look_.seconds() < kPeriod_s) return 0;
  std::optional<Placement> now = device_->placement();
  if (!now) return 0;
  const double longest_s = longest_wait_s(now->where());
  const Stopwatch clock;
  double waited_s = 0;
  int looks = now->where() == Where::in_place ? kLooks : 0;
  while (looks < kLooks && waited_s < longest_s && !(stop && stop())) {
    std::this_thread::sleep_for(kPause);
    now = device_->placement();
    looks = now->where() == Where::in_place ? looks + 1 : 0;
    waited_s = clock.seconds();
  }
  in_vain_ = now->where();
  left_s_ -= waited_s;
  waited_s_ += waited_s;
  handoffs_s_.push_back(now->core_to_core_s);
  since_look_ = Stopwatch();
  return waited_s;
}

bool Patience::apart() const {
  std::vector<double> handoffs_s = handoffs_s_;
  return !handoffs_s.empty() && Placement{middle(handoffs_s)}.where() == Where::apart;
}

nlohmann::ordered_json Patience::telemetry() const {
  if (handoffs_s_.empty()) return nullptr;
  return {{"core_to_core_s", summary(handoffs_s_)}, {"waited_s", waited_s_}};
}

}  // namespace ridgebench
