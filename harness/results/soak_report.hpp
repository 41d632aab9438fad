// soak.jsonl, the log of a soak, and what it adds up to. Each line is an event:
//   begin      the device, the planned seconds, the bytes of memory under test, the kernels, and
//              the share by which the last round of a kernel may be slower than its fastest one
//   left_out   a kernel that the soak does not launch, and why; `wrong` if its outputs are
//   mismatch   a launch or a pattern with wrong bits: phase, words, bits, multiprocessors with the
//              words of each; the first thousand also have addresses, flipped bits, clock,
//              temperature and power
//   more       the sums over mismatches after the first ten thousand, of a kernel in a phase and
//              since the last such line
//   fault      a counter of the device that grew (harness/results/worn.hpp) since the last reading
//   progress   after each round and at the end: launches, compared bytes and time of each kernel
//   end        the elapsed seconds, and whether the soak was interrupted
// A process that is killed loses the launches since the last `progress`. It loses none of the first
// ten thousand mismatches, and less than a hundredth of the number of all.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/worn.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

class JsonObject;

// A kernel, or a pattern of memory.
struct SoakCount {
  std::string id;
  std::int64_t launches = 0;
  double bytes = 0;             // that were compared
  std::int64_t mismatches = 0;  // launches with wrong bits
  std::int64_t words = 0;
  std::int64_t bits = 0;
  // Wrong words of each multiprocessor that has any; 0 in a log of an older version, which has only
  // their numbers.
  std::map<std::int64_t, std::int64_t> units = {};
  std::map<std::string, std::int64_t> phases = {};  // the mismatches of each phase that has any
  // Median of the launches of the fastest round and of the last one, in seconds.
  std::optional<double> fastest_s = std::nullopt;
  std::optional<double> last_s = std::nullopt;

  // Share by which the last round was slower than the fastest one; empty before the second.
  [[nodiscard]] std::optional<double> slower() const;
};

// Numbers of multiprocessors as JSON, and the wrong words of each by its number.
nlohmann::ordered_json numbers_of(const std::map<std::int64_t, std::int64_t>& units);
nlohmann::ordered_json words_by_number(const std::map<std::int64_t, std::int64_t>& units);

// A counter of faults that grew, in one reading or in many.
struct SoakFault {
  Growth growth;  // from the first reading to the last one
  std::int64_t readings = 0;
  double first_s = 0;
  double last_s = 0;

  // "remapped_rows.uncorrected grew from 0 to 3: in 3 readings, from 2.05 s to 60.1 s"
  [[nodiscard]] std::string text() const;
};

class SoakReport {
 public:
  // Adds an event. Throws UsageError, which begins with `origin`, for a line that is none.
  void add(const nlohmann::json& event, const std::string& origin);

  [[nodiscard]] const std::vector<SoakCount>& counts() const { return counts_; }
  [[nodiscard]] std::int64_t mismatches() const;
  // The mismatches that only lines `more` count.
  [[nodiscard]] std::int64_t without_line() const { return without_line_; }
  [[nodiscard]] double elapsed_s() const { return elapsed_s_; }
  [[nodiscard]] const std::string& device() const { return device_; }
  // One sentence for each counter of faults that grew, and for each kernel that was left out.
  [[nodiscard]] std::vector<std::string> faults() const;
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  [[nodiscard]] bool finished() const { return ended_ && !interrupted_; }
  // One line for each event in a wrong place: a log begins with `begin`, and `end` comes once, at
  // its end. An `end` before the planned time needs an interruption or a fault of the device.
  [[nodiscard]] std::vector<std::string> misplaced() const;

  // True if the last round of a kernel is slower than its fastest one by more than the share that
  // the soak allows.
  [[nodiscard]] bool is_slow(const SoakCount& count) const;
  // row_failed for wrong bits and for a fault of the device, regression for a slow kernel,
  // undecided for a soak that did not finish or launched nothing. Errors that the memory corrected
  // itself, and those of links, are reported only.
  [[nodiscard]] ExitCode exit_code() const;
  // The answer of `ridgebench soak --json`.
  [[nodiscard]] nlohmann::ordered_json to_json() const;

 private:
  SoakCount& count_of(const std::string& id);
  // Adds an event `mismatch`, or an event `more`, which has several.
  void add_mismatches(const JsonObject& line, std::int64_t mismatches);
  void add_fault(const JsonObject& line);
  void add_left_out(const JsonObject& line);
  void add_progress(const JsonObject& line);

  std::vector<SoakCount> counts_;
  std::vector<SoakFault> faults_;
  std::vector<std::string> left_out_;
  std::string device_;
  std::optional<double> slow_share_;  // empty: nothing is slow
  double seconds_ = 0;
  double memory_bytes_ = 0;
  double elapsed_s_ = 0;
  std::int64_t events_ = 0;
  std::int64_t without_line_ = 0;
  std::vector<std::string> misplaced_;
  bool wrong_ = false;
  bool ended_ = false;
  bool interrupted_ = false;
};

// The log of a folder. A last line without its newline is dropped. Throws UsageError.
SoakReport read_soak(const std::string& directory);

}  // namespace ridgebench
