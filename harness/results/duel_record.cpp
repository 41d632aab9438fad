#include "harness/results/duel_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <utility>

#include "harness/base/clock_split.hpp"
#include "harness/base/duels/process_ratio.hpp"
#include "harness/results/keyed_json.hpp"
#include "harness/results/read_keyed.hpp"
#include "harness/results/results_directory.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {

namespace {

DuelRatio ratio_of(std::vector<double> log_ratios, const std::optional<Ratio>& ratio) {
  DuelRatio result;
  if (ratio) {
    result.ratio = ratio->value;
    result.ci_low = ratio->ci_low;
    result.ci_high = ratio->ci_high;
    result.verdict = ratio->verdict;
    result.block = ratio->block;
    result.widened = ratio->widened;
  }
  result.log_ratios = std::move(log_ratios);
  return result;
}

DuelAtClock at_clock(const RatioAtClock& state) {
  return {.clock_hz = state.clock_hz,
          .quads = static_cast<std::int64_t>(state.quads),
          .ratio = state.ratio.value,
          .ci_low = state.ratio.ci_low,
          .ci_high = state.ratio.ci_high,
          .verdict = state.ratio.verdict};
}

// By the errors within the processes where they are known, as on a GPU.
std::optional<Ratio> ratio_of_processes(std::span<const double> log_ratios,
                                        std::span<const double> errors) {
  const bool known = !errors.empty() && errors.size() == log_ratios.size();
  return known ? estimate_over_processes(log_ratios, errors)
               : estimate_ratio(log_ratios, RatioRule::processes);
}

}  // namespace

void DuelAtClock::judge_over_processes() {
  const auto found = ratio_of_processes(log_ratios, errors);
  const auto count = static_cast<double>(log_ratios.size());
  const double sum = std::accumulate(log_ratios.begin(), log_ratios.end(), 0.0);
  ratio = found ? found->value : std::exp(sum / count);
  ci_low = found ? std::optional(found->ci_low) : std::nullopt;
  ci_high = found ? std::optional(found->ci_high) : std::nullopt;
  verdict = found ? found->verdict : Verdict::undecided;
}

DuelRatio ratio_of_states(DuelAtClock full_clock, DuelAtClock capped) {
  full_clock.judge_over_processes();
  capped.judge_over_processes();
  DuelRatio result;
  if (full_clock.verdict == capped.verdict) result.verdict = full_clock.verdict;
  result.full_clock = std::move(full_clock);
  result.capped = std::move(capped);
  return result;
}

DuelRatio ratio_over_processes(std::vector<double> log_ratios, std::vector<double> errors) {
  const auto ratio = estimate_over_processes(log_ratios, errors);
  DuelRatio result = ratio_of(std::move(log_ratios), ratio);
  result.errors = std::move(errors);
  return result;
}

DuelRatio ratio_of(std::vector<double> log_ratios, RatioRule rule,
                   std::span<const double> clock_hz) {
  const auto split = rule == RatioRule::blocked ? split_by_clock(log_ratios, clock_hz)
                                                : std::optional<SplitRatio>();
  if (!split) {
    const auto ratio = estimate_ratio(log_ratios, rule);
    return ratio_of(std::move(log_ratios), ratio);
  }
  DuelRatio result = ratio_of(std::move(log_ratios), std::nullopt);
  result.verdict = split->verdict();
  result.full_clock = at_clock(split->full_clock);
  result.capped = at_clock(split->capped);
  return result;
}

// The mean of logarithms, as of ratios: both techniques then have the same rule.
void DuelSide::set_energy(std::vector<double> blocks_j) {
  energy_blocks_j = std::move(blocks_j);
  energy_per_launch_j = energy_ci_low_j = energy_ci_high_j = std::nullopt;
  const auto positive = [](double joules) { return joules > 0; };
  if (energy_blocks_j.empty() || !std::ranges::all_of(energy_blocks_j, positive)) return;
  std::vector<double> logs;
  for (const double joules : energy_blocks_j) logs.push_back(std::log(joules));
  // Three processes of a GPU have three values, whose interval is Student's.
  auto found = estimate_ratio(logs);
  if (!found) found = estimate_over_processes(logs, std::vector<double>(logs.size()));
  if (found) {
    energy_per_launch_j = found->value;
    energy_ci_low_j = found->ci_low;
    energy_ci_high_j = found->ci_high;
    return;
  }
  const auto count = static_cast<double>(logs.size());
  energy_per_launch_j = std::exp(std::accumulate(logs.begin(), logs.end(), 0.0) / count);
}

void DuelScale::judge(RatioRule rule) {
  const auto again = [&](DuelRatio& ratio) {
    if (ratio.full_clock && ratio.capped && !ratio.full_clock->log_ratios.empty() &&
        !ratio.capped->log_ratios.empty()) {
      DuelRatio split = ratio_of_states(std::move(*ratio.full_clock), std::move(*ratio.capped));
      split.log_ratios = std::move(ratio.log_ratios);
      split.errors = std::move(ratio.errors);
      ratio = std::move(split);
      return;
    }
    const bool over = !ratio.errors.empty() && ratio.errors.size() == ratio.log_ratios.size();
    ratio = over ? ratio_over_processes(std::move(ratio.log_ratios), std::move(ratio.errors))
                 : ratio_of(std::move(ratio.log_ratios), rule, clock_hz);
  };
  again(seconds);
  if (cycles) again(*cycles);
}

RatioRule DuelRecord::rule() const {
  if (version_1) return RatioRule::version_1;
  return processes > 1 ? RatioRule::processes : RatioRule::blocked;
}

void DuelRecord::judge_ratios() {
  for (const auto scale : {&short_scale, &long_scale}) {
    if (*scale) (*scale)->judge(rule());
  }
}

void DuelRecord::judge() {
  judge_ratios();
  if (version_1) return;  // has no joules of blocks
  for (DuelSide* side : {&first, &second}) side->set_energy(side->energy_blocks_j);
}

void DuelRecord::withhold_ratios() {
  short_scale.reset();
  long_scale.reset();
  no_energy.reset();
  for (DuelSide* side : {&first, &second}) {
    side->time_s.reset();
    side->set_energy({});
  }
}

const DuelScale* DuelRecord::deciding() const {
  if (power_settles && long_scale && long_scale->seconds.ratio) return &*long_scale;
  return short_scale ? &*short_scale : nullptr;
}

const DuelRatio* DuelRecord::in_cycles() const {
  return short_scale && short_scale->cycles ? &*short_scale->cycles : nullptr;
}

std::optional<std::string> DuelRecord::decided_by() const {
  const DuelScale* scale = deciding();
  if (scale == nullptr) return std::nullopt;
  return long_scale && scale == &*long_scale ? "long" : "short";
}

std::optional<Verdict> DuelRecord::verdict() const {
  const DuelScale* scale = deciding();
  return scale == nullptr ? std::nullopt : std::optional(scale->seconds.verdict);
}

std::optional<Verdict> DuelRecord::verdict_in_cycles() const {
  const DuelRatio* ratio = in_cycles();
  return ratio == nullptr ? std::nullopt : std::optional(ratio->verdict);
}

std::optional<Verdict> DuelRecord::verdict_in_time() const {
  const DuelRatio* ratio = in_time();
  return ratio == nullptr ? std::nullopt : std::optional(ratio->verdict);
}

const DuelRatio* DuelRecord::in_time() const {
  const DuelScale* scale = deciding();
  const bool contains_power = !power_settles || decided_by() == "long";
  return scale != nullptr && contains_power ? &scale->seconds : nullptr;
}

const DuelRatio* DuelRecord::at_one_clock() const {
  if (in_cycles() != nullptr || !short_scale || !power_settles) return in_cycles();
  return &short_scale->seconds;
}

nlohmann::ordered_json to_json(const DuelRecord& duel) {
  nlohmann::ordered_json json{{"schema", duel.version_1 ? kFirstDuelSchema : kDuelSchema}};
  json.update(object_json(duel));
  return json;
}

DuelRecord parse_duel(std::string_view line, const std::string& origin) {
  const nlohmann::json checked = parse_json(line, origin);
  const JsonObject json(checked, origin);
  DuelRecord duel;
  duel.version_1 = json.text("schema") == kFirstDuelSchema;
  if (!duel.version_1 && json.text("schema") != kDuelSchema) json.reject("schema", kDuelSchema);
  read_object(json, parse_ordered(line), duel);
  return duel;
}

std::vector<DuelRecord> read_duels(const std::filesystem::path& directory) {
  const std::string path = (directory / kDuelsFile).string();
  std::istringstream lines(read_file(path));
  std::vector<DuelRecord> duels;
  for (std::string line; std::getline(lines, line);) {
    DuelRecord& duel =
        duels.emplace_back(parse_duel(line, fmt::format("{}:{}", path, duels.size() + 1)));
    duel.version_1 = false;
    duel.judge_ratios();
  }
  return duels;
}

ExitCode exit_code(std::span<const DuelRecord> duels) {
  const auto any = [&](const auto& holds) { return std::ranges::any_of(duels, holds); };
  const bool bad = any([](const DuelRecord& d) { return went_wrong(d.status); });
  if (bad || !any([](const DuelRecord& d) { return d.status == Status::ok; })) {
    return ExitCode::row_failed;
  }
  const bool open = any([](const DuelRecord& d) { return d.verdict() == Verdict::undecided; });
  return open ? ExitCode::undecided : ExitCode::fine;
}

}  // namespace ridgebench
