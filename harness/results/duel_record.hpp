// One duel as duels.jsonl holds it, and the list of its keys. results/schema/duel.schema.json
// describes the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/ratio.hpp"
#include "harness/results/key.hpp"
#include "harness/results/record.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

// Version 1 lacks the keys that are `not_in_oldest`, and formed its intervals by
// RatioRule::version_1.
inline constexpr const char* kDuelSchema = "ridgebench.duel/2";
inline constexpr const char* kFirstDuelSchema = "ridgebench.duel/1";

// One of the two techniques.
struct DuelSide {
  std::string technique;
  Origin origin = Origin::hand;
  Format accumulator = Format::fp32;
  int accumulator_bits = 0;
  std::optional<std::string> choice = std::nullopt;
  std::optional<bool> early = std::nullopt;
  std::optional<std::string> early_unknown = std::nullopt;
  std::optional<std::string> held_back_by = std::nullopt;
  std::optional<Verification> verify = std::nullopt;
  std::optional<double> time_s = std::nullopt;
  std::optional<double> energy_per_launch_j = std::nullopt;
  std::optional<double> energy_ci_low_j = std::nullopt;
  std::optional<double> energy_ci_high_j = std::nullopt;
  std::vector<double> energy_blocks_j = {};

  // Forms energy and interval from the joules per launch of the blocks, in J.
  void set_energy(std::vector<double> blocks_j);
};

// The quads of one power state.
struct DuelAtClock {
  double clock_hz = 0;
  std::int64_t quads = 0;
  double ratio = 0;
  std::optional<double> ci_low = std::nullopt;
  std::optional<double> ci_high = std::nullopt;
  Verdict verdict = Verdict::undecided;
  std::vector<double> log_ratios = {};  // of processes
  std::vector<double> errors = {};

  // Forms ratio, interval and verdict from the log ratios of its processes.
  void judge_over_processes();
};

// Statistics of the log ratios of one scale.
struct DuelRatio {
  std::optional<double> ratio = std::nullopt;
  std::optional<double> ci_low = std::nullopt;
  std::optional<double> ci_high = std::nullopt;
  Verdict verdict = Verdict::undecided;
  std::optional<std::int64_t> block = std::nullopt;
  std::optional<double> widened = std::nullopt;
  std::optional<DuelAtClock> full_clock = std::nullopt;
  std::optional<DuelAtClock> capped = std::nullopt;
  std::vector<double> log_ratios = {};
  std::vector<double> errors = {};

  [[nodiscard]] bool depends_on_clock() const { return full_clock.has_value(); }
};
// Forms the ratio over processes, by their log ratios and the errors within them.
DuelRatio ratio_over_processes(std::vector<double> log_ratios, std::vector<double> errors);
// Forms the ratio of processes of which some depend on the clock, from the log ratios of both
// states.
DuelRatio ratio_of_states(DuelAtClock full_clock, DuelAtClock capped);
// Forms the ratio. Only RatioRule::blocked splits it, by `clock_hz`, the clock of each quad in Hz.
DuelRatio ratio_of(std::vector<double> log_ratios, RatioRule rule = RatioRule::blocked,
                   std::span<const double> clock_hz = {});

struct DuelScale {
  double block_s = 0;
  std::int64_t quads = 0;
  DuelRatio seconds = {};
  std::optional<DuelRatio> cycles = std::nullopt;
  std::vector<double> clock_hz = {};

  // Forms the ratios again from log ratios and clocks.
  void judge(RatioRule rule);
};

struct DuelRecord {
  bool version_1 = false;  // its schema is kFirstDuelSchema
  std::string id;
  std::string op;
  std::string device;
  Backend backend = Backend::cpu;
  FormatPair format{};
  Shape shape = {};
  Regime regime = Regime::steady;
  double flops = 0;
  double bytes = 0;
  std::uint64_t seed = 0;
  std::string fill = {};
  Status status = Status::skipped;
  std::optional<std::string> reason = std::nullopt;
  DuelSide first = {};
  DuelSide second = {};
  std::int64_t sets = 0;
  std::int64_t processes = 1;
  std::optional<DuelScale> short_scale = std::nullopt;
  std::optional<DuelScale> long_scale = std::nullopt;
  bool power_settles = false;
  std::optional<std::string> no_energy = std::nullopt;
  double duration_s = 0;
  nlohmann::ordered_json telemetry = nlohmann::ordered_json::object();
  std::vector<std::string> flags = {};

  // The rule of its ratios.
  [[nodiscard]] RatioRule rule() const;
  // Forms its ratios again from log ratios and clocks.
  void judge_ratios();
  // The same, and its energies again from the joules of the blocks.
  void judge();
  // Takes ratios, times and joules out of a duel that is not ok.
  void withhold_ratios();

  // The scale that decides in seconds: the long one where power settles slowly and it was measured,
  // because only it contains the power. Null unless the duel was timed.
  [[nodiscard]] const DuelScale* deciding() const;
  // The short scale where its blocks knew their clock. Its many quads see one clock each.
  [[nodiscard]] const DuelRatio* in_cycles() const;
  [[nodiscard]] std::optional<std::string> decided_by() const;
  [[nodiscard]] std::optional<Verdict> verdict() const;
  [[nodiscard]] std::optional<Verdict> verdict_in_cycles() const;
  [[nodiscard]] std::optional<Verdict> verdict_in_time() const;
  // The ratio of the times that a user meets, which contain the power that each technique draws:
  // the long scale where power settles slowly, else the short one. Null if it was not measured.
  [[nodiscard]] const DuelRatio* in_time() const;
  // The ratio at one clock: that of the cycles, else that of the seconds at the short scale.
  [[nodiscard]] const DuelRatio* at_one_clock() const;
};

// The flag of a duel whose processes ran at clocks that differ by more than kFullClockWithin: some
// of them met the power limit.
inline constexpr const char* kClocksDiffer = "clocks_differ";

inline constexpr double kLargestLog = 709;  // exp of it is finite

// clang-format off
inline constexpr KeyList kDuelSideKeys{
    Key{"technique", &DuelSide::technique, "", "the idea by which it computes"},
    Key{"origin", &DuelSide::origin, "", "written by hand or called from a library"},
    Key{"accumulator", &DuelSide::accumulator, "", "format of the running sums"},
    Key{"accumulator_bits", &DuelSide::accumulator_bits, "bit", "fraction bits that the running sums keep"},
    Key{"choice", &DuelSide::choice, "", "what the technique chose for the shape; null if it has no choice"},
    Key{"early", &DuelSide::early, "", "a launch may start before the launch ahead of it has ended; null if that is not known"},
    Key{"early_unknown", &DuelSide::early_unknown, "", "why `early` of a measured side is null"},
    Key{"held_back_by", &DuelSide::held_back_by, "", "environment variables that keep the library from its best"},
    Key{"verify", &DuelSide::verify, "", "the comparison with the reference; null if nothing was checked"},
    Key{"time_s", &DuelSide::time_s, "s", "per launch: busy seconds over launches at the deciding scale"},
    Key{"energy_per_launch_j", &DuelSide::energy_per_launch_j, "J", "by the energy counter during the long blocks; null with the reason in no_energy"},
    Key{"energy_ci_low_j", &DuelSide::energy_ci_low_j, "J", "lower end of its 95 % interval; null below three blocks or processes", {}, Absence::not_in_oldest},
    Key{"energy_ci_high_j", &DuelSide::energy_ci_high_j, "J", "upper end of that interval", {}, Absence::not_in_oldest},
    Key{"energy_blocks_j", &DuelSide::energy_blocks_j, "J", "per launch of each long block, or of each process; empty if the energy is unknown", {.low_excluded = true}, Absence::not_in_oldest},
};
inline constexpr KeyList kDuelAtClockKeys{
    Key{"clock_hz", &DuelAtClock::clock_hz, "Hz", "median over the quads"},
    Key{"quads", &DuelAtClock::quads, "", "in this state", {.low = 1}},
    Key{"ratio", &DuelAtClock::ratio, "", "first over second", kPositive},
    Key{"ci_low", &DuelAtClock::ci_low, "", "lower end of its 95 % interval; null of too few processes", kPositive},
    Key{"ci_high", &DuelAtClock::ci_high, "", "upper end of that interval", kPositive},
    Key{"verdict", &DuelAtClock::verdict, "", "of the first technique in this state"},
    Key{"log_ratios", &DuelAtClock::log_ratios, "", "of the processes that met this state; empty of one process, whose quads are beside it", {.low = -kLargestLog, .high = kLargestLog}, Absence::not_in_oldest},
    Key{"errors", &DuelAtClock::errors, "", "standard error of each of them within its process; empty unless the processes of a GPU measured the duel", {.low = 0}, Absence::not_in_oldest},
};
inline constexpr KeyList kDuelRatioKeys{
    Key{"ratio", &DuelRatio::ratio, "", "first over second; null below five log ratios and where it depends on the clock"},
    Key{"ci_low", &DuelRatio::ci_low, "", "lower end of its 95 % interval"},
    Key{"ci_high", &DuelRatio::ci_high, "", "upper end of that interval"},
    Key{"verdict", &DuelRatio::verdict, "", "of the first technique"},
    Key{"block", &DuelRatio::block, "", "neighbouring log ratios that were averaged before the interval was formed; null without a ratio", {}, Absence::not_in_oldest},
    Key{"widened", &DuelRatio::widened, "", "factor by which the correlation of the blocks widens the error; null without a ratio", {}, Absence::not_in_oldest},
    Key{"full_clock", &DuelRatio::full_clock, "", "of a ratio that depends on the clock, also in one of several processes: the quads within 2 % of the highest clock of their process", {}, Absence::not_in_oldest},
    Key{"capped", &DuelRatio::capped, "", "the other quads of such a ratio", {}, Absence::not_in_oldest},
    Key{"log_ratios", &DuelRatio::log_ratios, "", "in the order measured", {.low = -kLargestLog, .high = kLargestLog}},
    Key{"errors", &DuelRatio::errors, "", "standard error of each log ratio within its process; empty unless the processes of a GPU measured the duel", {.low = 0}, Absence::not_in_oldest},
};
inline constexpr KeyList kDuelScaleKeys{
    Key{"block_s", &DuelScale::block_s, "s", "planned length of a block, with the part that is dropped"},
    Key{"quads", &DuelScale::quads, "", "of four blocks each"},
    Key{"seconds", &DuelScale::seconds, "", "ratio of the times"},
    Key{"cycles", &DuelScale::cycles, "", "ratio of the clock cycles; null if no quad has its clock"},
    Key{"clock_hz", &DuelScale::clock_hz, "Hz", "clock of each quad of the short scale that gave a ratio of cycles; empty elsewhere, and over several processes", {}, Absence::not_in_oldest},
};
inline constexpr KeyList kDuelKeys{
    Key{"id", &DuelRecord::id, "", "operation/first:second/format/shape/regime@device"},
    Key{"op", &DuelRecord::op, "", "the operation"},
    Key{"device", &DuelRecord::device, "", "name of a device in `environment.json`"},
    Key{"backend", &DuelRecord::backend, "", "kind of device"},
    Key{"format", &DuelRecord::format, "", "storage format of the inputs"},
    Key{"shape", &DuelRecord::shape, "", "named dimensions and attributes, and the layout of a matmul"},
    Key{"regime", &DuelRecord::regime, "", "state of the caches"},
    Key{"flops", &DuelRecord::flops, "FLOP", "per launch"},
    Key{"bytes", &DuelRecord::bytes, "byte", "per launch, compulsory"},
    Key{"seed", &DuelRecord::seed, "", "of the inputs and of the order of the blocks"},
    Key{"fill", &DuelRecord::fill, "", "distribution of the inputs"},
    Key{"status", &DuelRecord::status, "", "only an ok duel has ratios"},
    Key{"reason", &DuelRecord::reason, "", "why the duel is not ok"},
    Key{"first", &DuelRecord::first, "", "the technique that the verdict is about"},
    Key{"second", &DuelRecord::second, "", "the technique that it is compared with"},
    Key{"sets", &DuelRecord::sets, "", "buffer sets rotated, which both techniques share"},
    Key{"processes", &DuelRecord::processes, "", "that measured the duel; above 1, each of them gives one log ratio", {.low = 1}},
    Key{"short", &DuelRecord::short_scale, "", "blocks of 6 ms, one log ratio per quad, or per process"},
    Key{"long", &DuelRecord::long_scale, "", "blocks of up to 1.3 s, one log ratio per pair of blocks, or per process; null if the time was too short"},
    Key{"power_settles", &DuelRecord::power_settles, "", "the device's power settles slowly under load, so that the long scale decides"},
    Key{"decided_by", &DuelRecord::decided_by, "", "the scale of the verdict"},
    Key{"verdict", &DuelRecord::verdict, "", "of the first technique, in seconds"},
    Key{"verdict_in_cycles", &DuelRecord::verdict_in_cycles, "", "the same in clock cycles, by the short scale"},
    Key{"verdict_in_time", &DuelRecord::verdict_in_time, "", "the same as `verdict`, but null where power settles slowly and the long scale did not decide", {}, Absence::not_in_oldest},
    Key{"no_energy", &DuelRecord::no_energy, "", "why energy_per_launch_j is null; null if it is not, and where the duel was not timed"},
    Key{"duration_s", &DuelRecord::duration_s, "s", "of the whole duel, its checks included"},
    Key{"telemetry", &DuelRecord::telemetry, "", "what the device reported meanwhile"},
    Key{"flags", &DuelRecord::flags, "", "remarks, as of a row"},
};
// clang-format on
constexpr const auto& keys_of(const DuelSide*) { return kDuelSideKeys; }
constexpr const auto& keys_of(const DuelAtClock*) { return kDuelAtClockKeys; }
constexpr const auto& keys_of(const DuelRatio*) { return kDuelRatioKeys; }
constexpr const auto& keys_of(const DuelScale*) { return kDuelScaleKeys; }
constexpr const auto& keys_of(const DuelRecord*) { return kDuelKeys; }

nlohmann::ordered_json to_json(const DuelRecord& duel);
// Reads a line of duels.jsonl; `origin` names it in messages. Throws UsageError.
DuelRecord parse_duel(std::string_view line, const std::string& origin);

// The duels of a folder, judged by the rule of today, also those of version 1. Throws UsageError.
std::vector<DuelRecord> read_duels(const std::filesystem::path& directory);

// The exit code of finished duels: row_failed if one is wrong or failed or if none was timed,
// undecided if one is undecided.
ExitCode exit_code(std::span<const DuelRecord> duels);

}  // namespace ridgebench
