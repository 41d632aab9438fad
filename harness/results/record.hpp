// One row of a run as it stands in records.jsonl. The keys are described in results/schema and
// docs/method.md; a key without a value is null, never absent.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/regime.hpp"
#include "harness/base/statistics.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/model.hpp"

namespace ridgebench {

enum class Status : std::uint8_t { ok, wrong, invalid, failed, skipped };
constexpr auto names_of(Status) {
  return enum_names("status", "ok", "wrong", "invalid", "failed", "skipped");
}

// A control is a ceiling that is measured again at the end of the run.
enum class Role : std::uint8_t { kernel, ceiling, control };
constexpr auto names_of(Role) { return enum_names("role", "kernel", "ceiling", "control"); }

inline constexpr const char* kRecordSchema = "ridgebench.record/1";

// The ceilings that a row was judged by; the rates are null where it has no such ceiling.
struct RecordedRoof {
  std::optional<double> flops_per_s;
  std::optional<double> bytes_per_s;
  std::optional<std::string> compute_ceiling;  // ids of rows
  std::optional<std::string> memory_ceiling;
};

// The comparison of all elements of an output with another technique's, where the output is too
// large for the reference.
struct Witness {
  std::string technique;
  double error;  // largest difference / tolerance of both; at most 1 passes
};

struct Verification {
  double error = 0;           // largest |output - reference| / tolerance; at most 1 passes
  double tolerance = 0;       // absolute, at the element with that error
  std::int64_t elements = 0;  // compared with the reference
  bool exact = true;          // every one of them is the reference rounded to the output's format
  std::optional<Witness> witness = std::nullopt;  // on a GPU

  [[nodiscard]] bool passed() const { return error <= 1; }
};

struct Record {
  std::string id;
  std::string op;
  std::string technique;
  Backend backend = Backend::cpu;
  std::string device;
  Origin origin = Origin::hand;
  Role role = Role::kernel;
  std::optional<Resource> saturates;  // set for a ceiling and its control
  std::optional<int> level;           // of the cache that a ceiling saturates
  Engine engine = Engine::memory;
  FormatPair format;
  FormatPair arithmetic;  // the format in which products are formed
  Format accumulator = Format::fp32;
  std::optional<int>
      accumulator_bits;    // fraction bits that a running sum keeps; empty in older records
  std::optional<Isa> isa;  // empty: not bound to a level
  Shape shape;
  Regime regime = Regime::steady;
  double flops = 0;
  double bytes = 0;
  double written_fraction = 0;
  Status status = Status::skipped;
  std::optional<std::string> reason;  // set for every status but ok
  std::optional<std::uint64_t> seed;  // of the run's inputs, as is fill; empty in older records
  std::optional<std::string> fill;
  std::int64_t sets = 0;
  std::vector<double> samples_s;       // per launch
  std::int64_t samples_per_batch = 1;  // neighbours, together whole rotations
  std::int64_t launches_per_sample = 0;
  std::optional<Summary> time;  // of samples_s; set for ok only
  std::optional<double> clock_hz;
  std::optional<Limit> bound;
  std::optional<double> mfu;
  std::optional<double> fraction_of_roof_at_clock;
  std::optional<double> fraction_of_measured_roof;
  std::optional<RecordedRoof> roof;
  std::optional<Verification> verify;
  nlohmann::ordered_json telemetry = nlohmann::ordered_json::object();
  std::vector<std::string> flags;

  // What limits the row: both rates of its roof, or memory's alone for the memory engine, which
  // does next to no arithmetic. Empty where one is missing.
  [[nodiscard]] std::optional<Roof> limiting_roof() const;
  // Achieved rates by the median time; empty unless ok, and FLOP/s empty without FLOPs.
  [[nodiscard]] std::optional<double> flops_per_s() const;
  [[nodiscard]] std::optional<double> bytes_per_s() const;
};

nlohmann::ordered_json to_json(const Record& record);

// Reads one line of records.jsonl; `origin` (file:line) opens every message. Throws UsageError for
// anything that to_json would not have written.
Record parse_record(std::string_view line, const std::string& origin);

// The whole of DIR/records.jsonl. A last line without its newline, left by a killed run, is
// dropped.
std::vector<Record> read_records(const std::string& directory);

}  // namespace ridgebench
