// Explains the rows of a run: the limit of each row, its distance from it, the causes that the
// records hold, and what would move the limit. `ridgebench explain` prints it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/results/explained/causes.hpp"
#include "harness/results/explained/energy.hpp"
#include "harness/results/judged/judged.hpp"

namespace ridgebench {

// A row at or above this share of its roof has no cause to look for.
inline constexpr double kNearRoof = 0.9;
// "97 %", "0.4 %"
std::string percent_text(double share);

struct ExplainedRow {
  std::string id;
  Status status = Status::ok;
  std::optional<std::string> reason = std::nullopt;
  std::optional<Limit> limit = std::nullopt;
  std::vector<std::string> limited_by = {};
  std::optional<double> time_s = std::nullopt;
  std::optional<double> least_time_s = std::nullopt;
  std::optional<double> fraction_of_measured_roof = std::nullopt;
  std::optional<double> intensity = std::nullopt;
  std::optional<double> ridge = std::nullopt;
  std::optional<RowEnergy> energy = std::nullopt;
  std::vector<Cause> causes = {};
  std::optional<std::string> mover = std::nullopt;
};

// A cause of the machine or of the measurement, over the rows that have it.
struct RunCause {
  Cause cause;  // of the row with the largest factor
  std::int64_t rows = 0;
  std::int64_t of_rows = 0;  // rows with a time

  [[nodiscard]] std::string code() const { return cause.code; }
  [[nodiscard]] std::optional<double> factor() const { return cause.factor; }
  [[nodiscard]] std::string evidence() const { return cause.evidence; }
  [[nodiscard]] std::string remedy() const { return cause.remedy; }
};

struct ExplainedRun {
  std::string folder;
  std::vector<std::string> findings = {};
  std::vector<RunCause> causes = {};
  std::vector<ExplainedRow> rows = {};
};

// clang-format off
inline constexpr KeyList kExplainedRowKeys{
    Key{"id", &ExplainedRow::id, "", "of the record"},
    Key{"status", &ExplainedRow::status, "", "only an ok row has a time, and an unverified one, which was imported"},
    Key{"reason", &ExplainedRow::reason, "", "why the row is not ok"},
    Key{"limit", &ExplainedRow::limit, "", "what limits the row"},
    Key{"limited_by", &ExplainedRow::limited_by, "", "ids of the ceilings that limit the row"},
    Key{"time_s", &ExplainedRow::time_s, "s", "median time of a launch", kPositive},
    Key{"least_time_s", &ExplainedRow::least_time_s, "s", "least time by the measured roof", kPositive},
    Key{"fraction_of_measured_roof", &ExplainedRow::fraction_of_measured_roof, "", "share of that roof", kNotNegative},
    Key{"intensity_flop_per_byte", &ExplainedRow::intensity, "FLOP/byte", "FLOPs over compulsory bytes", kNotNegative},
    Key{"ridge_flop_per_byte", &ExplainedRow::ridge, "FLOP/byte", "intensity from which arithmetic limits the row", kPositive},
    Key{"energy", &ExplainedRow::energy, "", "of a row whose energy was recorded and which arithmetic or memory limits"},
    Key{"causes", &ExplainedRow::causes, "", "the most important first"},
    Key{"mover", &ExplainedRow::mover, "", "a change that would move the limit"},
};
inline constexpr KeyList kRunCauseKeys{
    Key{"code", &RunCause::code, "", "stable name of the cause"},
    Key{"rows", &RunCause::rows, "", "number of rows that have it", kCount},
    Key{"of_rows", &RunCause::of_rows, "", "number of rows with a time", kCount},
    Key{"factor", &RunCause::factor, "", "the largest factor among them", kPositive},
    Key{"evidence", &RunCause::evidence, "", "of the row with that factor"},
    Key{"remedy", &RunCause::remedy, "", "a command or a change"},
};
inline constexpr KeyList kExplainedRunKeys{
    Key{"folder", &ExplainedRun::folder, "", "as it was named"},
    Key{"findings", &ExplainedRun::findings, "", "the run in at most three sentences"},
    Key{"causes", &ExplainedRun::causes, "", "causes of the machine and of the measurement, over all rows"},
    Key{"rows", &ExplainedRun::rows, "", "one entry for each chosen row of a kernel, or of a copy over a link, in the order of records.jsonl"},
};
// clang-format on
constexpr const auto& keys_of(const ExplainedRow*) { return kExplainedRowKeys; }
constexpr const auto& keys_of(const RunCause*) { return kRunCauseKeys; }
constexpr const auto& keys_of(const ExplainedRun*) { return kExplainedRunKeys; }

// Explains all rows of kernels, and of copies over links, of a judged run. `environment` is its
// environment.json.
ExplainedRun explain(const JudgedRun& run, const nlohmann::ordered_json& environment);

// The same with the environment.json of the run's folder. Throws UsageError if it is unreadable.
ExplainedRun explain(const JudgedRun& run);

}  // namespace ridgebench
