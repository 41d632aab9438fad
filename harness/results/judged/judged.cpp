#include "harness/results/judged/judged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "harness/base/checksum.hpp"
#include "harness/results/files/results_files.hpp"
#include "harness/results/judged/raised.hpp"
#include "harness/results/judged/roofs_of_format.hpp"
#include "harness/results/keyed_json.hpp"
#include "harness/results/measured_roofs.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

std::optional<double> ridge_of(std::optional<double> flops_per_s,
                               std::optional<double> bytes_per_s) {
  if (!flops_per_s || !bytes_per_s) return std::nullopt;
  return Roof{*flops_per_s, *bytes_per_s}.ridge();
}

JudgedRow judged_row_of(const RaisedRow& row, const Standing& standing) {
  const Record& r = row.record;
  const auto doubted = standing.doubts.rows.find(r.id);
  return {.id = r.id,
          .flags = r.flags,
          .bound = r.bound,
          .roof = r.roof,
          .fraction_of_measured_roof = r.fraction_of_measured_roof,
          .least_time_s = least_time_s(r),
          .limited_by = limiting_ceilings(r),
          .doubted =
              doubted == standing.doubts.rows.end() ? std::vector<std::string>() : doubted->second,
          .is_roof = is_roof(r),
          .raised = row.raised,
          .raised_by = row.raised_by,
          .cut_by_budget = standing.cut_by_budget(r),
          .served_by_cache = served_by_cache(r)};
}

std::vector<MovedCeiling> moved_of(const Doubts& doubts) {
  std::vector<MovedCeiling> moved;
  for (const Control& control : doubts.controls) {
    if (control.moved()) moved.push_back({control.ceiling, control.change});
  }
  return moved;
}

}  // namespace

std::optional<double> JudgedRoof::ridge() const {
  return bytes_per_s ? ridge_of(per_s, bytes_per_s) : std::nullopt;
}

std::optional<double> JudgedRow::ridge() const {
  return roof ? ridge_of(roof->flops_per_s, roof->bytes_per_s) : std::nullopt;
}

JudgedRun judge(const std::string& folder, std::vector<Record> records,
                const StandingOf& standing_of) {
  JudgedRun run{.folder = folder};
  std::map<std::string, std::vector<RaisedRow>> by_device;
  for (const MeasuredDevice& device : read_devices(folder)) {
    std::vector<Record> own;
    std::ranges::copy_if(records, std::back_inserter(own),
                         [&](const Record& r) { return r.device == device.name; });
    if (own.empty()) continue;
    const auto& rows = by_device[device.name] = raised_rows(std::move(own));
    run.devices.push_back({device.name, roofs_by_format(rows)});
  }
  std::map<std::string, std::size_t> taken;
  std::vector<const RaisedRow*> rows;
  for (Record& record : records) {
    const auto found = by_device.find(record.device);
    if (found == by_device.end()) {
      throw UsageError(fmt::format("{}/environment.json: devices lacks '{}', which has records",
                                   folder, record.device));
    }
    rows.push_back(&found->second[taken[record.device]++]);
    record = rows.back()->record;
  }
  const Standing standing = standing_of(records);
  run.unfinished = standing.why_unfinished;
  run.doubts_recorded = standing.doubts_recorded;
  run.moved = moved_of(standing.doubts);
  for (const RaisedRow* row : rows) run.rows.push_back(judged_row_of(*row, standing));
  run.doubts = standing.doubts;
  run.records = std::move(records);
  return run;
}

JudgedRun judge(const std::string& folder) {
  require_run(folder);
  const std::string records_file = folder + "/records.jsonl";
  const std::string records_sha256 = sha256_of_file(records_file);
  const std::string environment_sha256 = sha256_of_file(folder + "/environment.json");
  JudgedRun run = judge(folder, read_records(folder), [&](std::span<const Record> records) {
    return read_standing(folder, records);
  });
  run.records_sha256 = records_sha256;
  run.environment_sha256 = environment_sha256;
  run.torn = !read_file(records_file).ends_with('\n');
  if (!run.unfinished && run.torn) run.unfinished = "the last record was cut off";
  return run;
}

nlohmann::ordered_json to_json(const JudgedDocument& document) {
  nlohmann::ordered_json json{{"schema", kJudgedSchema}};
  json.update(object_json(document));
  return json;
}

std::string judged_text(const std::string& folder) {
  JudgedRun run = judge(folder);
  run.folder = ".";
  return json_lines(to_json({.runs = {std::move(run)}}), 1) + "\n";
}

}  // namespace ridgebench
