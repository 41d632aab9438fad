// One row of a run as records.jsonl holds it, and the one list of its keys; record_parts.hpp
// has those of the objects inside it. The JSON writer, the reader,
// results/schema/record.schema.json and the table of keys in docs/record.md follow from the lists;
// `record_docs` prints the last two.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/power_state.hpp"
#include "harness/base/regime.hpp"
#include "harness/base/statistics.hpp"
#include "harness/results/record_parts.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/model.hpp"
#include "roofline/utilisation.hpp"

namespace ridgebench {

inline constexpr const char* kRecordSchema = "ridgebench.record/1";
inline constexpr const char* kEnvironmentSchema = "ridgebench.environment/1";

// Results that are older than the project's name have the former one in their schemas, and the same
// keys.
inline constexpr std::string_view kFormerProject = "ridgepoint";
inline std::string former(std::string_view schema) {
  return std::string(kFormerProject) += schema.substr(schema.find('.'));
}

// An unverified row was imported: another tool measured it, and nothing checked its output.
enum class Status : std::uint8_t { ok, wrong, suspect, invalid, failed, skipped, unverified };
constexpr auto names_of(Status) {
  return enum_names("status", "ok", "wrong", "suspect", "invalid", "failed", "skipped",
                    "unverified");
}
constexpr bool has_time(Status status) {
  return status == Status::ok || status == Status::unverified;
}
// True if the row should have a time and has none.
constexpr bool went_wrong(Status status) { return !has_time(status) && status != Status::skipped; }

// A control is a ceiling that is measured again at the end of the run.
enum class Role : std::uint8_t { kernel, ceiling, control };
constexpr auto names_of(Role) { return enum_names("role", "kernel", "ceiling", "control"); }

// The list below has the members' meanings and units.
struct Record {
  std::string id;
  std::string op;
  std::string technique;
  Backend backend = Backend::cpu;
  std::string device;
  Origin origin = Origin::hand;
  Role role = Role::kernel;
  std::optional<Resource> saturates;
  std::optional<int> level;
  bool burst = false;
  Engine engine = Engine::memory;
  FormatPair format;
  FormatPair arithmetic;
  Format accumulator = Format::fp32;
  std::optional<int> accumulator_bits;
  std::optional<Isa> isa;
  Shape shape;
  Regime regime = Regime::steady;
  double flops = 0;
  double bytes = 0;
  double written_fraction = 0;
  Status status = Status::skipped;
  std::optional<std::string> reason;
  std::optional<std::string> choice;
  std::optional<double> model_l2_to_sm_bytes = std::nullopt;
  std::optional<double> model_dram_bytes = std::nullopt;
  std::optional<std::string> loaded_from;
  std::optional<bool> isolated = std::nullopt;
  std::optional<bool> early;
  std::optional<std::string> early_unknown;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> fill;
  std::optional<std::string> held_back_by;
  std::int64_t sets = 0;
  std::vector<double> samples_s;
  std::int64_t samples_per_batch = 1;
  std::int64_t launches_per_sample = 0;
  std::optional<double> tick_s;
  std::optional<Summary> time;  // of samples_s; the six keys time_*, NaN if unknown
  std::optional<double> time_mean_s;
  std::optional<double> seen_s = std::nullopt;
  std::vector<double> clocks_hz;
  std::optional<double> clock_hz;
  std::optional<PowerState> power_state = std::nullopt;
  std::optional<double> cycles_median;
  std::optional<double> cycles_ci_low;
  std::optional<double> cycles_ci_high;
  std::optional<Limit> bound;
  std::optional<double> mfu;
  std::optional<double> fraction_of_roof_at_clock;
  std::optional<double> fraction_of_measured_roof;
  std::optional<std::string> roof_unknown;
  std::optional<RecordedRoof> roof;
  std::optional<SecondLook> second_look;
  std::optional<Verification> verify;
  std::optional<std::string> fingerprint = std::nullopt;
  nlohmann::ordered_json telemetry = nlohmann::ordered_json::object();
  std::vector<std::string> flags;

  [[nodiscard]] bool flagged(std::string_view flag) const;
  // Both rates of its roof, or only memory's for the memory engine. Empty where one is missing.
  [[nodiscard]] std::optional<Roof> limiting_roof() const;
  // That roof, and the special functions or conversions.
  [[nodiscard]] Limits limits() const;
  [[nodiscard]] std::optional<double> intensity_flop_per_byte() const;
  // Achieved rates by the median time; empty without a time, and FLOP/s empty without FLOPs.
  [[nodiscard]] std::optional<double> flops_per_s() const;
  [[nodiscard]] std::optional<double> bytes_per_s() const;
  // The median of the SM clock that NVML read meanwhile, minus clock_hz. Empty where one is
  // unknown.
  [[nodiscard]] std::optional<double> nvml_clock_excess_hz() const;
  // The median that the device reported of a quantity while the row ran, such as `sm_clock_hz`, and
  // a value of telemetry.window; empty if it is unknown.
  [[nodiscard]] std::optional<double> telemetry_median(const char* key) const;
  [[nodiscard]] std::optional<double> window_value(const char* key) const;
  // Summary of the cycles per launch; empty if the clock of a sample is unknown.
  [[nodiscard]] std::optional<Summary> cycles() const;
};

// In the order in which they are written: key, member, unit, meaning, bounds, and whether older
// records lack it. A key ends in its unit; what is unknown is null.
// clang-format off
inline constexpr KeyList kRecordKeys{
    Key{"id", &Record::id, "", "operation/technique/format/shape/regime@device; a control ends in `:control`"},
    Key{"op", &Record::op, "", "the operation: what is computed"},
    Key{"technique", &Record::technique, "", "the idea by which it is computed"},
    Key{"backend", &Record::backend, "", "kind of device"},
    Key{"device", &Record::device, "", "name of a device in `environment.json`"},
    Key{"origin", &Record::origin, "", "written by hand, called from a library, or measured by another tool (external)"},
    Key{"role", &Record::role, "", "a control is a ceiling that is measured again at the end"},
    Key{"saturates", &Record::saturates, "", "the resource that a ceiling saturates; null for a kernel"},
    Key{"level", &Record::level, "", "level of the cache that a ceiling saturates", Bounds{1, 9}},
    Key{"burst", &Record::burst, "", "the row is so short that power and clock do not settle: its rate is not a roof", {}, Absence::not_in_oldest},
    Key{"engine", &Record::engine, "", "the unit that the technique keeps busy; memory: it does next to no arithmetic"},
    Key{"format", &Record::format, "", "storage format of the inputs; a mixed pair is joined by `x`"},
    Key{"arithmetic", &Record::arithmetic, "", "format in which products are formed; where it differs, the row is flagged `storage_format`"},
    Key{"accumulator", &Record::accumulator, "", "format of the running sums"},
    Key{"accumulator_bits", &Record::accumulator_bits, "bit", "fraction bits that the running sums keep", Bounds{1, 52}, Absence::not_in_oldest},
    Key{"isa", &Record::isa, "", "instruction set chosen at run time; null if it does not matter"},
    Key{"shape", &Record::shape, "", "named dimensions and attributes, and the layout of a matmul"},
    Key{"regime", &Record::regime, "", "state of the caches"},
    Key{"flops", &Record::flops, "FLOP", "per launch; a multiply-add counts 2", kNotNegative},
    Key{"bytes", &Record::bytes, "byte", "per launch, compulsory: each input read once, each output written once; an operand that is updated in place counts twice", kNotNegative},
    Key{"intensity_flop_per_byte", &Record::intensity_flop_per_byte, "FLOP/byte", "their ratio; null without bytes", kNotNegative},
    Key{"written_fraction", &Record::written_fraction, "", "share of the bytes that is written; selects the memory ceiling", Bounds{0, 1}},
    Key{"status", &Record::status, "", "only an ok row has a time, and an unverified one, which was imported"},
    Key{"reason", &Record::reason, "", "why the row is not ok"},
    Key{"choice", &Record::choice, "", "what the technique chose for the shape: tile and cluster, or a library's algorithm; null if it has no choice", {}, Absence::not_in_oldest},
    Key{"model_l2_to_sm_bytes", &Record::model_l2_to_sm_bytes, "byte", "per launch, that the L2 cache delivers to the multiprocessors by the technique's model of its tiles; null if it has no model", kPositive, Absence::not_in_oldest},
    Key{"model_dram_bytes", &Record::model_dram_bytes, "byte", "per launch, that main memory delivers or takes at least by the same model; null if it has none", kPositive, Absence::not_in_oldest},
    Key{"loaded_from", &Record::loaded_from, "", "name of the file that `--load` took the technique from, for Python `FILE.py:NAME`, whose checksum environment.json has; null for those of the program", {}, Absence::not_in_oldest},
    Key{"isolated", &Record::isolated, "", "whether an own kernel ran in a process of its own, which this one verified and timed; null for the kernels of the program", {}, Absence::not_in_oldest},
    Key{"early", &Record::early, "", "a launch may start before the launch ahead of it has ended (programmatic dependent launch); null if that is not known", {}, Absence::not_in_oldest},
    Key{"early_unknown", &Record::early_unknown, "", "why `early` of a measured row is null", {}, Absence::not_in_oldest},
    Key{"seed", &Record::seed, "", "of the inputs", kCount, Absence::not_in_oldest},
    Key{"fill", &Record::fill, "", "distribution of the inputs", {}, Absence::not_in_oldest},
    Key{"held_back_by", &Record::held_back_by, "", "environment variables, as `NAME=VALUE`, that keep the row's library from its best; the row is flagged `library_held_back`", {}, Absence::not_in_oldest},
    Key{"sets", &Record::sets, "", "buffer sets rotated", kCount},
    Key{"samples_s", &Record::samples_s, "s", "per launch, one per sample, in the order taken", kPositive},
    Key{"samples_per_batch", &Record::samples_per_batch, "", "number of neighbouring samples that together are whole rotations; 1 where it is missing", Bounds{1, kLargestCount}, Absence::not_in_oldest},
    Key{"launches_per_sample", &Record::launches_per_sample, "", "launches that each sample averages; where a rotation does not divide evenly, some have one more", kCount},
    Key{"tick_s", &Record::tick_s, "s", "smallest step of the timer in the process that measured the row; the interval is never narrower", kPositive, Absence::not_in_oldest},
    TimeKey{"time_median_s", &Summary::median, "median of the samples"},
    TimeKey{"time_ci_low_s", &Summary::ci_low, "lower end of the median's 95 % interval within this run"},
    TimeKey{"time_ci_high_s", &Summary::ci_high, "upper end of that interval"},
    TimeKey{"time_min_s", &Summary::min, "fastest sample"},
    TimeKey{"time_p10_s", &Summary::p10, "tenth percentile"},
    TimeKey{"time_p90_s", &Summary::p90, "ninetieth percentile"},
    Key{"time_mean_s", &Record::time_mean_s, "s", "time of all samples over all of their launches", kPositive, Absence::not_in_oldest},
    Key{"seen_s", &Record::seen_s, "s", "of an isolated kernel, per launch: lower quartile of what the measuring process saw, less commands, waiting and enqueueing; a median below 0.9 of it is not believed", kNotNegative, Absence::not_in_oldest},
    Key{"flops_per_s", &Record::flops_per_s, "FLOP/s", "by the median time; null unless ok or unverified, and where flops is 0", kPositive},
    Key{"bytes_per_s", &Record::bytes_per_s, "byte/s", "by the median time; null unless ok or unverified, and where bytes is 0", kNotNegative},
    Key{"clocks_hz", &Record::clocks_hz, "Hz", "clock held during each sample, in their order; empty if one of them is unknown", kPositive, Absence::not_in_oldest},
    Key{"clock_hz", &Record::clock_hz, "Hz", "median clock held during the samples; null if they are shorter than 5 ms", kPositive},
    Key{"nvml_clock_excess_hz", &Record::nvml_clock_excess_hz, "Hz", "the SM clock that NVML read meanwhile, its median, minus clock_hz; null if one is unknown", Bounds{-1e12, 1e12}, Absence::not_in_oldest},
    Key{"power_state", &Record::power_state, "", "how much of the sampling the power limit lowered the clock: hardly any (full_clock), most (capped), or a part (mixed); null if uncounted or shorter than 0.3 s", {}, Absence::not_in_oldest},
    Key{"cycles_median", &Record::cycles_median, "cycle", "per launch, median over the samples of time x clock; null if a clock is unknown", kPositive, Absence::not_in_oldest},
    Key{"cycles_ci_low", &Record::cycles_ci_low, "cycle", "lower end of that median's 95 % interval within this run", kPositive, Absence::not_in_oldest},
    Key{"cycles_ci_high", &Record::cycles_ci_high, "cycle", "upper end of that interval", kPositive, Absence::not_in_oldest},
    Key{"bound", &Record::bound, "", "what limits the row"},
    Key{"mfu", &Record::mfu, "", "share of the dense data-sheet peak; null without a data sheet", kNotNegative},
    Key{"fraction_of_roof_at_clock", &Record::fraction_of_roof_at_clock, "", "share of the peak at the clock held", kNotNegative},
    Key{"fraction_of_measured_roof", &Record::fraction_of_measured_roof, "", "share of what the measured ceilings allow", kNotNegative},
    Key{"roof_unknown", &Record::roof_unknown, "", "why that share is null if no ceiling can give the roof", {}, Absence::not_in_oldest},
    Key{"roof", &Record::roof, "", "the measured ceilings that the row was judged by"},
    Key{"second_look", &Record::second_look, "", "the row and its ceilings measured again, because it was more than 10 % above one of them; null if it was not", {}, Absence::not_in_oldest},
    Key{"verify", &Record::verify, "", "the comparison with the reference; null if nothing was checked"},
    Key{"fingerprint", &Record::fingerprint, "", "64-bit sum of the bits of all outputs of the first buffer set, in hexadecimal; null if the technique may add in another order each time", {}, Absence::not_in_oldest},
    Key{"telemetry", &Record::telemetry, "", "what the device reported while the row ran; see below"},
    Key{"flags", &Record::flags, "", "remarks; see below"},
};
// clang-format on
constexpr const auto& keys_of(const Record*) { return kRecordKeys; }

nlohmann::ordered_json to_json(const Record& record);

// Reads one line of records.jsonl; `origin` (file:line) opens every message. Throws UsageError for
// anything that to_json would not have written.
Record parse_record(std::string_view line, const std::string& origin);

// The whole of DIR/records.jsonl. A last line without its newline, left by a killed run, is
// dropped. Throws UsageError, also for an id that comes twice.
std::vector<Record> read_records(const std::string& directory);

}  // namespace ridgebench
