// Says which rows of a run are in doubt. A control is a ceiling that the run measures again at its
// end. A control that moved says that the machine changed meanwhile, so that the share of its roof
// is not a finding of any row that the ceiling limits. The campaign decides this once and records
// it in environment.json (`controls` and `doubted`). Tables and figures read it there.
#pragma once

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/results/record.hpp"

namespace ridgebench {

class JsonObject;

// A control whose rate differs by more than this share from the first one moved (docs/method.md).
inline constexpr double kControlMoved = 0.02;
// The flag of a row with fewer samples than kEnoughSamples.
inline constexpr const char* kFewSamples = "few_samples";
inline constexpr std::size_t kEnoughSamples = 30;

// The keys of a row that make its id.
struct RowName {
  const std::string& operation;
  const std::string& technique;
  FormatPair format;
  const Shape& shape;
  Regime regime;
  const std::string& device;
};
// "operation/technique/format/shape/regime@device"
std::string id_of_row(const RowName& row);

// The id of the control of a ceiling that is measured again itself.
inline std::string control_of(const std::string& ceiling) { return ceiling + ":control"; }

struct Control {
  std::string ceiling;  // id of the ceiling's row
  // Id of the row of the second measurement. The copy's serves for all ceilings of the memory of
  // its device that were not measured again themselves.
  std::string control;
  double change = 0;     // the second rate over the first one, minus 1
  bool earlier = false;  // of the run whose ceilings this run uses (--ceilings)

  [[nodiscard]] bool moved() const { return std::abs(change) > kControlMoved; }
};

// The controls of the verified ceilings among the rows, in the order of the ceilings. Of several
// copies, the one that moved furthest serves for the memory.
std::vector<Control> controls_of(std::span<const Record> records);

struct Doubts {
  std::vector<Control> controls = {};
  // By the id of a verified kernel row: the ceilings that limit it and whose controls moved. A row
  // that neither arithmetic nor memory limits counts both ceilings of its roof.
  std::map<std::string, std::vector<std::string>> rows = {};

  [[nodiscard]] bool doubts(const std::string& id) const { return rows.contains(id); }
};

// `earlier` are the controls of the run that the ceilings come from. They count for the ceilings
// that these rows use.
Doubts doubts_of(std::span<const Record> records, std::span<const Control> earlier = {});

// The ceilings that limit a row, and so decide its share of the roof; both of its roof where
// neither arithmetic nor memory does.
std::vector<std::string> limiting_ceilings(const Record& record);

// Records the doubts in environment.json.
void add_doubts(nlohmann::ordered_json& environment, const Doubts& doubts);

// Why no title rests on what environment.json describes: it was interrupted, or has no end. Empty
// if it ended, and for imported results. Throws UsageError.
std::optional<std::string> why_unfinished(const JsonObject& environment);

// The part of environment.json that concerns every row of a run.
struct Standing {
  std::optional<std::string> why_unfinished = {};  // it was interrupted, or has no end
  bool budgeted = false;                           // --budget cut the time of its rows
  bool doubts_recorded = false;
  Doubts doubts = {};

  // True if --budget ended the row's samples early.
  [[nodiscard]] bool cut_by_budget(const Record& record) const;
  // True if a title or a summary may rest on the row. A row that the run could not finish heads
  // nothing: it is not verified, the budget cut its samples, or the run did not end.
  [[nodiscard]] bool may_head(const Record& record) const;
};

// The recorded doubts of a folder; a run of before they were recorded is judged by its rows. Throws
// UsageError.
Standing read_standing(const std::string& directory, std::span<const Record> records);

// One line for each thing that the recorded doubts say and the rows do not. Empty where
// environment.json has no doubts.
std::vector<std::string> doubt_problems(const nlohmann::json& environment,
                                        std::span<const Record> records);

}  // namespace ridgebench
