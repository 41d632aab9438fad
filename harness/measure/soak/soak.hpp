// A burn-in: kernels, memory patterns and copies in phases of load and rest, in which every result
// is compared bit for bit. A mismatch is counted and logged, and the soak goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/soak/choose_units.hpp"
#include "harness/measure/soak/memory_test.hpp"
#include "harness/results/worn.hpp"

namespace ridgebench {

// verify: the first launches. hot: launches back to back. memory: patterns. link: copies between
// host and GPU. swing: load and rest of 1 to 100 ms in turn. cold_start: the first launches after a
// rest of seconds.
enum class SoakPhase : std::uint8_t { verify, hot, memory, link, swing, cold_start };
constexpr auto names_of(SoakPhase) {
  return enum_names("phase", "verify", "hot", "memory", "link", "swing", "cold_start");
}

struct SoakSettings {
  double seconds;       // after the kernels are verified
  double memory_share;  // of the free memory, for patterns
  // By which the last round of a kernel may be slower than its fastest one; empty: by any.
  std::optional<double> slow_share = std::nullopt;
  Fill fill = Fill::normal;
  std::uint64_t seed = 1;
  bool stop_on_fault = false;  // ends at the first growth of a counter of faults
};

class Soak {
 public:
  // Each line of the log is an event; harness/results/soak_report.hpp lists them.
  using Log = std::function<void(const nlohmann::ordered_json&)>;
  // Lets time pass, up to these seconds.
  using Rest = std::function<void(double)>;

  // `stop` is asked after each launch.
  Soak(Device& device, const SoakSettings& settings, Log log, std::function<bool()> stop,
       Rest rest);

  // Throws DeviceError when the device is lost.
  void run(const std::vector<Case>& cases);

 private:
  struct Counts {
    std::int64_t launches = 0;
    double bytes = 0;             // that were compared
    std::vector<double> round_s;  // times of hot launches in this round
  };
  // The sums over mismatches.
  struct Mismatches {
    std::int64_t launches = 0;
    std::int64_t words = 0;
    std::int64_t bits = 0;
    std::map<std::int64_t, std::int64_t> units;  // wrong words of multiprocessors

    void add(const std::vector<WrongOutput>& found);
  };

  void run_all(const std::vector<Case>& cases);
  void begin(const std::vector<Case>& cases);
  void verify_units();
  // The first two launches of a kernel. Returns why it has no later ones.
  std::optional<LeftOut> verify(SoakUnit& unit);
  void log_left_out(const LeftOut& what);
  void run_round(double seconds);
  void hot(double seconds);
  void test_memory(double seconds);
  void copy(double seconds);
  void swing(double seconds);
  void cold_start(double seconds);

  // One launch and its comparison. Returns the seconds of the launch.
  double step(SoakUnit& unit, SoakPhase phase);
  void launch_all(std::vector<SoakUnit*>& units, SoakPhase phase, double until_s);
  void report(const std::string& id, SoakPhase phase, const std::vector<WrongOutput>& found);
  void compare_memory();
  // Logs the mismatches that have no line of their own.
  void log_more();
  void log_progress();
  // Logs what grew of the device's counters of faults.
  void read_health();
  [[nodiscard]] double elapsed_s() const { return device_->now_s() - start_s_; }
  [[nodiscard]] bool ends() const;
  void rest(double seconds);

  Device* device_;
  SoakSettings settings_;
  Log log_;
  std::function<bool()> stop_;
  Rest rest_;
  OutputCheck check_;
  std::vector<std::unique_ptr<SoakUnit>> units_;
  std::vector<SoakUnit*> compute_;
  std::vector<SoakUnit*> links_;
  std::unique_ptr<MemoryTest> memory_;
  std::map<std::string, Counts> counts_;
  FaultCounters health_;
  std::size_t next_ = 0;  // of the units in turn
  std::int64_t mismatches_ = 0;
  // The mismatches since the last log_more(), by kernel and phase.
  std::map<std::pair<std::string, SoakPhase>, Mismatches> more_;
  std::int64_t more_launches_ = 0;
  std::int64_t round_ = 0;
  double start_s_ = 0;
  double end_s_ = 0;
  double health_s_ = 0;  // when the counters were read
  bool faulty_ = false;
};

}  // namespace ridgebench
