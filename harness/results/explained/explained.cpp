#include "harness/results/explained/explained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "harness/results/suspect.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_pointer.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

// The rows that compete: the same work on the same device, with sums of the same precision.
std::string work_of(const Record& r) {
  return fmt::format("{}/{}/{}/{}/{}@{}", r.op, r.format.name(), r.shape.text(), name(r.regime),
                     r.accumulator_bits.value_or(0), r.device);
}

// Kernels, and copies over links: other ceilings are what rows are compared with.
bool is_explained(const Record& r) {
  return r.role == Role::kernel || (r.role == Role::ceiling && r.saturates == Resource::link);
}

// Share of the processors' time that the hypervisor took during the run.
std::optional<double> stolen_share(const nlohmann::ordered_json& environment,
                                   const nlohmann::ordered_json& device) {
  const auto before = number_at(environment, "/state/before/host/stolen_s");
  const auto after = number_at(environment, "/state/after/host/stolen_s");
  const auto duration_s = number_at(environment, "/duration_s");
  const auto threads = number_at(device, "/threads");
  if (!before || !after || !duration_s || !threads) return std::nullopt;
  const double whole_s = *duration_s * *threads;
  return whole_s > 0 ? std::optional(std::max(0.0, *after - *before) / whole_s) : std::nullopt;
}

std::vector<RunCondition> conditions_in(const nlohmann::ordered_json& environment) {
  std::vector<RunCondition> conditions;
  for (const nlohmann::ordered_json& one : value_at(environment, "/conditions")) {
    conditions.push_back({text_at(one, "/code"), text_at(one, "/text"), text_at(one, "/device")});
  }
  return conditions;
}

// A change that would move the limit of a row, whatever slows it now.
std::optional<std::string> mover_of(const Record& r, std::optional<Limit> limit,
                                    std::optional<double> ridge) {
  if (!limit) return std::nullopt;
  const auto intensity = r.intensity_flop_per_byte();
  switch (*limit) {
    case Limit::memory:
      return fmt::format(
          "fewer bytes: a narrower format, or an operation fused with its neighbour{}",
          intensity && ridge && r.engine != Engine::memory
              ? fmt::format("; above {:.3g} FLOP/byte arithmetic is the limit, here it is {:.3g}",
                            *ridge, *intensity)
              : "");
    case Limit::compute:
      return "fewer FLOPs, or a format or an engine with a higher peak";
    case Limit::special:
      return "fewer special functions or conversions for each element";
    case Limit::launch:
      return "more work for each launch";
  }
  return std::nullopt;
}

class Explainer {
 public:
  Explainer(const JudgedRun& run, const nlohmann::ordered_json& environment)
      : run_(&run), conditions_(conditions_in(environment)) {
    for (const Record& r : run.records) {
      if (r.role != Role::kernel || r.status != Status::ok) continue;
      const Record*& best = fastest_[work_of(r)];
      if (best == nullptr || r.time->median < best->time->median) best = &r;
    }
    for (const nlohmann::ordered_json& device : value_at(environment, "/devices")) {
      devices_[text_at(device, "/name")] = {
          .json = device,
          .sheet = find_data_sheet(text_at(device, "/data_sheet")),
          .stolen_share = stolen_share(environment, device)};
    }
  }

  [[nodiscard]] ExplainedRow row(std::size_t i) const {
    const Record& r = run_->records[i];
    const JudgedRow& judged = run_->rows[i];
    ExplainedRow row{.id = r.id,
                     .status = r.status,
                     .reason = r.reason,
                     .limit = judged.bound,
                     .limited_by = judged.limited_by,
                     .least_time_s = judged.least_time_s,
                     .fraction_of_measured_roof = judged.fraction_of_measured_roof,
                     .intensity = r.intensity_flop_per_byte(),
                     .ridge = judged.ridge()};
    if (!has_time(r.status) || !r.time) return row;
    row.time_s = r.time->median;
    row.energy = energy_of(r, judged.bound, run_->records);
    row.causes = causes_of(facts_of(r, judged));
    row.mover = mover_of(r, judged.bound, row.ridge);
    return row;
  }

 private:
  [[nodiscard]] RowFacts facts_of(const Record& r, const JudgedRow& judged) const {
    static const DeviceFacts unknown{};
    const auto device = devices_.find(r.device);
    const auto best = fastest_.find(work_of(r));
    return {.record = &r,
            .limit = judged.bound,
            .served_by_cache = judged.served_by_cache,
            .doubted = judged.doubted,
            .device = device == devices_.end() ? &unknown : &device->second,
            .conditions = &conditions_,
            .fastest = best == fastest_.end() ? nullptr : best->second};
  }

  const JudgedRun* run_;
  std::vector<RunCondition> conditions_;
  std::map<std::string, const Record*> fastest_;  // by work_of()
  std::map<std::string, DeviceFacts> devices_;
};

// The causes that no kernel can change, the most important first.
std::vector<RunCause> run_causes(const std::vector<ExplainedRow>& rows) {
  std::vector<RunCause> all;
  std::int64_t timed = 0;
  for (const ExplainedRow& row : rows) {
    timed += row.time_s ? 1 : 0;
    for (const Cause& cause : row.causes) {
      if (cause.of == CauseOf::kernel) continue;
      auto found = std::ranges::find(all, cause.code, &RunCause::code);
      if (found == all.end()) found = all.insert(all.end(), {.cause = cause});
      ++found->rows;
      if (cause.factor.value_or(0) > found->factor().value_or(0)) found->cause = cause;
    }
  }
  for (RunCause& one : all) one.of_rows = timed;
  std::ranges::stable_sort(all, {}, [](const RunCause& one) {
    return std::tuple(one.cause.of, !one.factor(), -one.factor().value_or(0), -one.rows);
  });
  return all;
}

// "relu/vec16/fp32": the id up to the shape.
std::string short_name(const std::string& id) {
  std::size_t end = 0;
  for (int parts = 0; parts < 3 && end != std::string::npos; ++parts) end = id.find('/', end + 1);
  return id.substr(0, end);
}

// True if a sentence may rest on the row. An imported row was not verified.
bool heads(const JudgedRow& judged, const ExplainedRow& row) {
  return row.status == Status::ok && row.time_s && row.fraction_of_measured_roof &&
         !judged.cut_by_budget && judged.doubted.empty() && !judged.served_by_cache;
}

std::optional<std::string> sentence_of_best(const std::vector<ExplainedRow>& rows,
                                            const std::vector<bool>& may_head) {
  std::string text;
  for (const auto& [limit, limits] : {std::pair{Limit::memory, "Memory limits {} of {} rows"},
                                      std::pair{Limit::compute, "arithmetic limits {}"}}) {
    std::size_t count = 0;
    const ExplainedRow* best = nullptr;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].limit != limit || !rows[i].time_s) continue;
      ++count;
      if (!may_head[i]) continue;
      if (best == nullptr || rows[i].fraction_of_measured_roof > best->fraction_of_measured_roof) {
        best = &rows[i];
      }
    }
    if (best == nullptr) continue;
    const auto timed =
        std::ranges::count_if(rows, [](const ExplainedRow& row) { return row.time_s.has_value(); });
    const std::string subject = fmt::format(fmt::runtime(limits), count, timed);
    text += text.empty() ? subject : "; " + subject;
    text += fmt::format(", and the best, {}, reaches {} of its measured roof", short_name(best->id),
                        percent_text(*best->fraction_of_measured_roof));
  }
  if (text.empty()) return std::nullopt;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + ".";
}

// The rows of naive techniques whose operation and format have other techniques, too. A naive
// technique takes too long at the sizes of the others, so that it has sizes of its own.
std::set<std::string> naive_rows_beside_others(const std::vector<Record>& records) {
  const auto work = [](const Record& r) {
    return fmt::format("{}/{}/{}@{}", r.op, r.format.name(), name(r.regime), r.device);
  };
  constexpr std::string_view kNaive = "naive";
  std::set<std::string> with_others;
  for (const Record& r : records) {
    if (r.technique != kNaive && r.status == Status::ok) with_others.insert(work(r));
  }
  std::set<std::string> beside_others;
  for (const Record& r : records) {
    if (r.technique == kNaive && with_others.contains(work(r))) beside_others.insert(r.id);
  }
  return beside_others;
}

// The id without the technique: rows of one case compete.
std::string case_of(const std::string& id) {
  const std::size_t first = id.find('/');
  const std::size_t second = id.find('/', first + 1);
  return second == std::string::npos ? id : id.substr(0, first) + id.substr(second);
}

bool is_beaten(const ExplainedRow& row) {
  return std::ranges::find(row.causes, "technique", &Cause::code) != row.causes.end();
}

// The fastest technique that is farthest below its roof, without the rows `left_out`.
std::optional<std::string> sentence_of_gap(const std::vector<ExplainedRow>& rows,
                                           const std::vector<bool>& may_head,
                                           const std::set<std::string>& left_out) {
  const ExplainedRow* worst = nullptr;
  std::set<std::string> cases;
  std::set<std::string> judged;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].time_s || rows[i].limit == Limit::launch || left_out.contains(rows[i].id))
      continue;
    cases.insert(case_of(rows[i].id));
    if (!may_head[i] || is_beaten(rows[i])) continue;
    judged.insert(case_of(rows[i].id));
    if (worst == nullptr || rows[i].fraction_of_measured_roof < worst->fraction_of_measured_roof) {
      worst = &rows[i];
    }
  }
  if (worst == nullptr) return std::nullopt;
  const double share = *worst->fraction_of_measured_roof;
  const std::string where =
      judged.size() == cases.size()
          ? "In each case"
          : fmt::format("In the {} of {} cases whose roof is sound", judged.size(), cases.size());
  if (share >= kNearRoof) {
    return fmt::format("{}, the fastest technique reaches at least {} of its roof.", where,
                       percent_text(share));
  }
  return fmt::format(
      "{}, the fastest technique was compared with its roof; {} is the farthest: {}, {} instead of "
      "{}.",
      where, short_name(worst->id), percent_text(share), with_unit(*worst->time_s, "s"),
      with_unit(*worst->least_time_s, "s"));
}

// The row that is farthest above a ceiling, beyond what two measurements may differ by.
std::optional<std::string> sentence_of_raised(const std::vector<JudgedRow>& rows) {
  const auto farthest = std::ranges::max_element(rows, {}, &JudgedRow::raised);
  if (farthest == rows.end() || farthest->raised <= 1 + kSuspectMargin) return std::nullopt;
  const std::string ceiling = short_name(farthest->id);
  const std::string faster = farthest->raised < 2
                                 ? fmt::format("{:.0f} % faster than", 100 * (farthest->raised - 1))
                                 : fmt::format("{:.3g} times as fast as", farthest->raised);
  if (farthest->raised_by == farthest->id) {
    return fmt::format("A second look at the ceiling {} was {} the first: that is the roof.",
                       ceiling, faster);
  }
  return fmt::format("{} is {} the ceiling {}: its rate replaces that roof.",
                     short_name(farthest->raised_by.value_or("")), faster, ceiling);
}

std::string sentence_of_causes(const JudgedRun& run, const std::vector<RunCause>& causes) {
  if (run.unfinished) return fmt::format("No finding rests on this run: {}.", *run.unfinished);
  if (causes.empty()) return "No reading shows that the machine or the measurement changed a time.";
  const RunCause& first = causes.front();
  std::string evidence = first.evidence();
  evidence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(evidence.front())));
  return fmt::format("{} ({}, {} of {} rows).", evidence, first.code(), first.rows, first.of_rows);
}

}  // namespace

std::string percent_text(double share) {
  return share < 0.1 ? fmt::format("{:.2g} %", 100 * share) : fmt::format("{:.0f} %", 100 * share);
}

ExplainedRun explain(const JudgedRun& run, const nlohmann::ordered_json& environment) {
  ExplainedRun explained{.folder = run.folder};
  const Explainer explainer(run, environment);
  std::vector<bool> may_head;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    if (!is_explained(run.records[i])) continue;
    explained.rows.push_back(explainer.row(i));
    may_head.push_back(heads(run.rows[i], explained.rows.back()));
  }
  explained.causes = run_causes(explained.rows);
  if (!run.unfinished) {
    auto second = sentence_of_raised(run.rows);
    if (!second) {
      second = sentence_of_gap(explained.rows, may_head, naive_rows_beside_others(run.records));
    }
    for (const auto& sentence : {sentence_of_best(explained.rows, may_head), second}) {
      if (sentence) explained.findings.push_back(*sentence);
    }
  }
  explained.findings.push_back(sentence_of_causes(run, explained.causes));
  return explained;
}

ExplainedRun explain(const JudgedRun& run) {
  const std::string path = run.folder + "/environment.json";
  return explain(run, nlohmann::ordered_json(parse_json(read_file(path), path)));
}

}  // namespace ridgebench
