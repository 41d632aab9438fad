// The judgement of a run: its rows under their roofs, computed once. A run ends with the file
// judged.json, and `ridgebench show` computes the same for any results folder, also an old one.
// Tables, figures and comparisons read it. The lists of keys below make the JSON writer,
// results/schema/judged.schema.json and the table in docs/method/judged.md.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/results/doubts.hpp"
#include "harness/results/judged/sheets.hpp"
#include "harness/results/record.hpp"

namespace ridgebench {

// A change of the layout, or of a rule, raises the version: readers judge older files again.
inline constexpr const char* kJudgedSchema = "urn:ridgebench:judged:2";
inline constexpr const char* kJudgedFile = "judged.json";

// A roof as a figure draws it: the rate of a ceiling, or of the row that raised it, with the band
// of the ceiling's samples.
struct JudgedRoof {
  std::string name;  // "copy", "L2", "bf16 tensor"
  double per_s = 0;
  double low_per_s = 0;
  double high_per_s = 0;
  std::string format;
  Engine engine = Engine::memory;
  std::optional<int> level = std::nullopt;
  std::string ceiling;
  std::optional<double> bytes_per_s = std::nullopt;
  std::optional<std::string> traffic = std::nullopt;

  [[nodiscard]] std::optional<double> ridge() const;
};

// The roof of matrix products: arithmetic, and the memory at the mix of a square product.
struct ProductRoof {
  double flops_per_s = 0;
  double bytes_per_s = 0;
  std::optional<std::string> traffic = std::nullopt;
};

// The roofs that judge the verified steady rows of one format, or of all.
struct RoofsOfFormat {
  std::optional<std::string> format = std::nullopt;
  std::vector<JudgedRoof> memory = {};
  std::vector<JudgedRoof> caches = {};
  std::vector<JudgedRoof> compute = {};
  std::optional<ProductRoof> products = std::nullopt;
};

struct MovedCeiling {
  std::string ceiling;
  double change = 0;
};

struct JudgedDevice {
  std::string name;
  std::vector<RoofsOfFormat> roofs = {};
};

struct JudgedRow {
  std::string id;
  std::vector<std::string> flags = {};
  std::optional<Limit> bound = std::nullopt;
  std::optional<RecordedRoof> roof = std::nullopt;
  std::optional<double> fraction_of_measured_roof = std::nullopt;
  std::optional<double> least_time_s = std::nullopt;
  std::vector<std::string> limited_by = {};
  std::vector<std::string> doubted = {};
  bool is_roof = false;
  double raised = 1;
  std::optional<std::string> raised_by = std::nullopt;
  bool cut_by_budget = false;
  bool served_by_cache = false;

  [[nodiscard]] std::optional<double> ridge() const;
};

struct JudgedRun {
  std::string folder;
  std::string records_sha256 = {};
  std::string environment_sha256 = {};
  std::optional<std::string> unfinished = std::nullopt;
  bool torn = false;
  bool doubts_recorded = false;
  std::vector<MovedCeiling> moved = {};
  std::vector<JudgedDevice> devices = {};
  std::vector<JudgedRow> rows = {};
  // Not of the document: what its rows were computed from, one record for each row, at the raised
  // roofs. A table of the same judgement prints them.
  std::vector<Record> records = {};
  Doubts doubts = {};
};

// clang-format off
inline constexpr KeyList kJudgedRoofKeys{
    Key{"name", &JudgedRoof::name, "", "traffic of a memory, level of a cache, or format and engine"},
    Key{"per_s", &JudgedRoof::per_s, "FLOP/s or byte/s", "rate of the ceiling, or of the row that raised it", kPositive},
    Key{"low_per_s", &JudgedRoof::low_per_s, "FLOP/s or byte/s", "the same by the ninetieth percentile of the ceiling's samples", kPositive},
    Key{"high_per_s", &JudgedRoof::high_per_s, "FLOP/s or byte/s", "the same by their tenth percentile", kPositive},
    Key{"format", &JudgedRoof::format, "", "format of the arithmetic, or of a memory's elements"},
    Key{"engine", &JudgedRoof::engine, "", "what does the arithmetic"},
    Key{"level", &JudgedRoof::level, "", "of a cache"},
    Key{"ceiling", &JudgedRoof::ceiling, "", "id of the ceiling's row"},
    Key{"bytes_per_s", &JudgedRoof::bytes_per_s, "byte/s", "bandwidth of the rows that a flat roof judges", kPositive},
    Key{"traffic", &JudgedRoof::traffic, "", "its mix: `read`, `triad`, `copy` or `write`"},
    Key{"ridge", &JudgedRoof::ridge, "FLOP/byte", "intensity from which arithmetic limits those rows", kPositive},
};

inline constexpr KeyList kProductRoofKeys{
    Key{"flops_per_s", &ProductRoof::flops_per_s, "FLOP/s", "highest arithmetic roof of the rows", kPositive},
    Key{"bytes_per_s", &ProductRoof::bytes_per_s, "byte/s", "bandwidth that judges square products below it", kPositive},
    Key{"traffic", &ProductRoof::traffic, "", "its mix"},
};

inline constexpr KeyList kRoofsOfFormatKeys{
    Key{"format", &RoofsOfFormat::format, "", "format of the rows; null: all formats together"},
    Key{"memory", &RoofsOfFormat::memory, "", "the memory's roofs that judge rows, the fastest first"},
    Key{"caches", &RoofsOfFormat::caches, "", "bandwidths of caches, by level"},
    Key{"compute", &RoofsOfFormat::compute, "", "flat roofs, the highest first"},
    Key{"products", &RoofsOfFormat::products, "", "the roof of matrix products; null if no ceiling measured their engine"},
};

inline constexpr KeyList kMovedCeilingKeys{
    Key{"ceiling", &MovedCeiling::ceiling, "", "id of the ceiling's row"},
    Key{"change", &MovedCeiling::change, "", "rate of its control at the end of the run over its own, minus 1", Bounds{-1, 1e300}},
};

inline constexpr KeyList kJudgedDeviceKeys{
    Key{"name", &JudgedDevice::name, "", "as in environment.json"},
    Key{"roofs", &JudgedDevice::roofs, "", "one entry for all formats, and one for each"},
};

inline constexpr KeyList kJudgedRowKeys{
    Key{"id", &JudgedRow::id, "", "of the record"},
    Key{"flags", &JudgedRow::flags, "", "of the record, completed by the rules of today"},
    Key{"bound", &JudgedRow::bound, "", "what limits the row"},
    Key{"roof", &JudgedRow::roof, "", "of the record, at the rates that rows above a ceiling raised"},
    Key{"fraction_of_measured_roof", &JudgedRow::fraction_of_measured_roof, "", "share of that roof", kNotNegative},
    Key{"least_time_s", &JudgedRow::least_time_s, "s", "least time by that roof; null for arithmetic without a ceiling", kPositive},
    Key{"ridge", &JudgedRow::ridge, "FLOP/byte", "of that roof", kPositive},
    Key{"limited_by", &JudgedRow::limited_by, "", "ids of the ceilings that limit the row"},
    Key{"doubted", &JudgedRow::doubted, "", "the limiting ceilings whose control moved: the share is not a finding"},
    Key{"is_roof", &JudgedRow::is_roof, "", "a verified ceiling that judges kernels: no burst, at the full rate, not from a cache"},
    Key{"raised", &JudgedRow::raised, "", "factor by which a row above a ceiling, or a second look at the ceiling, raises it; else 1", kPositive},
    Key{"raised_by", &JudgedRow::raised_by, "", "id of that row, or the own one after a second look"},
    Key{"cut_by_budget", &JudgedRow::cut_by_budget, "", "`--budget` left the row few samples"},
    Key{"served_by_cache", &JudgedRow::served_by_cache, "", "caches may have served the row, and arithmetic does not limit it: no title rests on it"},
};

inline constexpr KeyList kJudgedRunKeys{
    Key{"folder", &JudgedRun::folder, "", "as it was named; `.` in a file"},
    Key{"records_sha256", &JudgedRun::records_sha256, "", "of records.jsonl"},
    Key{"environment_sha256", &JudgedRun::environment_sha256, "", "of environment.json"},
    Key{"unfinished", &JudgedRun::unfinished, "", "why no title rests on the run; null if it ended"},
    Key{"torn", &JudgedRun::torn, "", "the last record was cut off"},
    Key{"doubts_recorded", &JudgedRun::doubts_recorded, "", "environment.json says which ceilings moved; else the rows do"},
    Key{"moved", &JudgedRun::moved, "", "the ceilings whose control moved"},
    Key{"devices", &JudgedRun::devices, "", "the measured devices"},
    Key{"rows", &JudgedRun::rows, "", "the rows in the order of records.jsonl"},
};
// clang-format on

constexpr const auto& keys_of(const JudgedRoof*) { return kJudgedRoofKeys; }
constexpr const auto& keys_of(const ProductRoof*) { return kProductRoofKeys; }
constexpr const auto& keys_of(const RoofsOfFormat*) { return kRoofsOfFormatKeys; }
constexpr const auto& keys_of(const MovedCeiling*) { return kMovedCeilingKeys; }
constexpr const auto& keys_of(const JudgedDevice*) { return kJudgedDeviceKeys; }
constexpr const auto& keys_of(const JudgedRow*) { return kJudgedRowKeys; }
constexpr const auto& keys_of(const JudgedRun*) { return kJudgedRunKeys; }

// Judges the run in a results folder. Throws UsageError for files that cannot be read.
JudgedRun judge(const std::string& folder);

// Judges records of a run that is in memory. The folder holds its environment.json. `standing_of`
// gets the records at their raised roofs. The checksums stay empty. Throws UsageError.
using StandingOf = std::function<Standing(std::span<const Record>)>;
JudgedRun judge(const std::string& folder, std::vector<Record> records,
                const StandingOf& standing_of);

// The whole document: runs, and the data sheets that a user asked for.
struct JudgedDocument {
  std::vector<JudgedRun> runs = {};
  std::vector<JudgedSheet> sheets = {};
};
inline constexpr KeyList kJudgedDocumentKeys{
    Key{"runs", &JudgedDocument::runs, "", "one for each results folder"},
    Key{"sheets", &JudgedDocument::sheets, "", "the data sheets of `--on`"},
};
constexpr const auto& keys_of(const JudgedDocument*) { return kJudgedDocumentKeys; }

nlohmann::ordered_json to_json(const JudgedDocument& document);

// The text of judged.json for the run in a folder.
std::string judged_text(const std::string& folder);

}  // namespace ridgebench
