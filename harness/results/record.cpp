#include "harness/results/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "harness/results/files/read_once.hpp"
#include "harness/results/files/results_files.hpp"
#include "harness/results/keyed_json.hpp"
#include "harness/results/read_keyed.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_pointer.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

// Limit of FLOPs and bytes per second: no axis holds others, as in figures/page/drawable.py.
constexpr Range kRates{1e-60, 1e60};

std::optional<double> rate(double amount, const std::optional<Summary>& time) {
  if (!time || amount <= 0) return std::nullopt;
  return amount / time->median;
}

// Older records say by the name of the technique or of the operation what newer ones say by a key.
void read_former_names(Record& record, const ordered_json& raw) {
  if (!raw.contains("burst")) record.burst = record.technique.find("burst") != std::string::npos;
  if (record.saturates != Resource::sfu) return;
  if (record.op == "convert_narrow") record.saturates = Resource::narrow;
  if (record.op == "convert_widen") record.saturates = Resource::widen;
}

// Digits, error bars and verdicts follow from the interval. Points of other tools may have none:
// its ends are then NaN.
void require_order(const Record& record, const std::string& origin) {
  if (!record.time) return;
  const Summary& time = *record.time;
  if (!(time.ci_low > time.median) && !(time.median > time.ci_high)) return;
  throw UsageError(fmt::format(
      "{}: time_ci_low_s {:g}, time_median_s {:g} and time_ci_high_s {:g} are not in this order; "
      "allowed: numbers that do not fall",
      origin, time.ci_low, time.median, time.ci_high));
}

}  // namespace

bool Record::flagged(std::string_view flag) const {
  return std::ranges::find(flags, flag) != flags.end();
}

std::optional<Roof> Record::limiting_roof() const {
  const bool memory_only = engine == Engine::memory;
  if (!roof || !roof->bytes_per_s || !(roof->flops_per_s || memory_only)) return std::nullopt;
  return Roof{roof->flops_per_s.value_or(std::numeric_limits<double>::max()), *roof->bytes_per_s};
}

std::optional<double> RecordedRoof::special_s() const {
  if (!special_results || !special_results_per_s) return std::nullopt;
  return *special_results / *special_results_per_s;
}

Limits Record::limits() const {
  return {.roof = limiting_roof(), .special_s = roof ? roof->special_s() : std::nullopt};
}

std::optional<double> Record::intensity_flop_per_byte() const {
  return Work{flops, bytes}.intensity();
}
std::optional<double> Record::flops_per_s() const { return rate(flops, time); }
std::optional<double> Record::bytes_per_s() const { return rate(bytes, time); }

std::optional<double> Record::telemetry_median(const char* key) const {
  return number_at(telemetry, fmt::format("/{}/median", key));
}
std::optional<double> Record::window_value(const char* key) const {
  return number_at(telemetry, fmt::format("/window/{}", key));
}

std::optional<double> Record::nvml_clock_excess_hz() const {
  const auto read_hz = telemetry_median("sm_clock_hz");
  if (!clock_hz || !read_hz) return std::nullopt;
  return *read_hz - *clock_hz;
}

std::optional<Summary> Record::cycles() const {
  if (clocks_hz.empty() || clocks_hz.size() != samples_s.size() || launches_per_sample < 1) {
    return std::nullopt;
  }
  std::vector<double> cycles(samples_s.size());
  std::ranges::transform(samples_s, clocks_hz, cycles.begin(), std::multiplies<>());
  const double tick = tick_s.value_or(0) / static_cast<double>(launches_per_sample);
  return summarize(cycles, tick * clocks_hz.front());
}

ordered_json to_json(const Record& record) {
  ordered_json json{{"schema", kRecordSchema}};
  json.update(object_json(record));
  return json;
}

Record parse_record(std::string_view line, const std::string& origin) {
  const nlohmann::json checked = parse_json(line, origin);
  const JsonObject json(checked, origin);
  const std::string schema = json.text("schema");
  if (schema != kRecordSchema && schema != former(kRecordSchema))
    json.reject("schema", kRecordSchema);
  const ordered_json raw = parse_ordered(line);
  Record record;
  read_object(json, raw, record);
  if (record.time) record.time->samples = record.samples_s.size();
  if (record.time.has_value() != has_time(record.status)) {
    json.reject("time_median_s", "a time for status ok or unverified, null for every other");
  }
  for (const std::optional<double>& per_s : {record.flops_per_s(), record.bytes_per_s()}) {
    if (per_s && !(*per_s >= kRates.low && *per_s <= kRates.high)) {
      json.reject("time_median_s",
                  fmt::format("a time whose rates are from {:g} to {:g} per second", kRates.low,
                              kRates.high));
    }
  }
  if ((record.origin == Origin::external) != (record.status == Status::unverified)) {
    json.reject("origin", "external with status unverified, and no other status with external");
  }
  read_former_names(record, raw);
  return record;
}

namespace {

std::vector<Record> parse_records(const std::string& directory) {
  require_run(directory);
  const std::string path = directory + "/records.jsonl";
  const std::string text = read_file(path);
  std::vector<Record> records;
  std::set<std::string> ids;
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    const std::string origin = fmt::format("{}:{}", path, records.size() + 1);
    records.push_back(parse_record(std::string_view(text).substr(start, end - start), origin));
    require_order(records.back(), origin);
    if (!ids.insert(records.back().id).second) {
      throw UsageError(fmt::format("{}: the row {} comes twice; allowed: one line for each row",
                                   origin, records.back().id));
    }
    start = end + 1;
  }
  return records;
}

}  // namespace

std::vector<Record> read_records(const std::string& directory) {
  return read_once(fmt::format("rows {}", directory), [&] { return parse_records(directory); });
}

}  // namespace ridgebench
