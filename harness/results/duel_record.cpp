#include "harness/results/duel_record.hpp"

#include <algorithm>
#include <utility>

#include "harness/results/keyed_json.hpp"
#include "harness/results/read_keyed.hpp"

namespace ridgebench {

DuelRatio ratio_of(std::vector<double> log_ratios) {
  DuelRatio result;
  if (const std::optional<Ratio> ratio = estimate_ratio(log_ratios, RatioRule::independent)) {
    result.ratio = ratio->value;
    result.ci_low = ratio->ci_low;
    result.ci_high = ratio->ci_high;
    result.verdict = ratio->verdict;
  }
  result.log_ratios = std::move(log_ratios);
  return result;
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

nlohmann::ordered_json to_json(const DuelRecord& duel) {
  nlohmann::ordered_json json{{"schema", kDuelSchema}};
  json.update(object_json(duel));
  return json;
}

DuelRecord parse_duel(std::string_view line, const std::string& origin) {
  const nlohmann::json checked = parse_json(line, origin);
  const JsonObject json(checked, origin);
  if (json.text("schema") != kDuelSchema) json.reject("schema", kDuelSchema);
  DuelRecord duel;
  read_object(json, nlohmann::ordered_json::parse(line), duel);
  return duel;
}

ExitCode exit_code(std::span<const DuelRecord> duels) {
  const auto any = [&](const auto& holds) { return std::ranges::any_of(duels, holds); };
  const bool bad = any(
      [](const DuelRecord& d) { return d.status == Status::wrong || d.status == Status::failed; });
  if (bad || !any([](const DuelRecord& d) { return d.status == Status::ok; })) {
    return ExitCode::row_failed;
  }
  const bool open = any([](const DuelRecord& d) { return d.verdict() == Verdict::undecided; });
  return open ? ExitCode::undecided : ExitCode::fine;
}

}  // namespace ridgebench
