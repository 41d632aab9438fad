#include "harness/results/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "harness/results/keyed_json.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

std::optional<double> rate(double amount, const std::optional<Summary>& time) {
  if (!time || amount <= 0) return std::nullopt;
  return amount / time->median;
}

Range range_of(const Bounds& bounds) {
  return {bounds.low, bounds.high > bounds.low ? bounds.high : std::numeric_limits<double>::max()};
}

// `raw` is the same object with its keys in the order of the file.
template <Keyed T>
void read_object(const JsonObject& json, const ordered_json& raw, T& object);

void read_shape(const JsonObject& sizes, const ordered_json& raw, Shape& shape) {
  std::vector<Shape::Dimension> dimensions;
  std::optional<Layout> layout;
  for (const auto& [dimension, value] : raw.items()) {
    if (dimension == "layout") {
      layout = sizes.one_of<Layout>("layout");
    } else {
      const double size = sizes.number(dimension.c_str(), {1, kLargestCount});
      dimensions.emplace_back(dimension, static_cast<std::int64_t>(size));
    }
  }
  shape = Shape(std::move(dimensions), layout);
}

template <class T>
T read_format(const JsonObject& json, const char* key, T (*parse_name)(std::string_view)) {
  const std::string text = json.text(key);
  try {
    return parse_name(text);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}: {}", json.origin(), key, error.what()));
  }
}

template <class T>
void read_value(const JsonObject& json, const ordered_json& raw, const char* key,
                const Bounds& bounds, T& value) {
  if constexpr (kIsOptional<T>) {
    value.reset();
    if (!json.is_null(key)) read_value(json, raw, key, bounds, value.emplace());
  } else if constexpr (NamedEnum<T>) {
    value = json.one_of<T>(key);
  } else if constexpr (Keyed<T>) {
    const JsonObject inner = json.object(key);  // first: it says what is missing
    read_object(inner, raw.at(key), value);
  } else if constexpr (std::is_same_v<T, Format>) {
    value = read_format(json, key, parse_format);
  } else if constexpr (std::is_same_v<T, FormatPair>) {
    value = read_format(json, key, parse_format_pair);
  } else if constexpr (std::is_same_v<T, Shape>) {
    const JsonObject inner = json.object(key);  // first: it says what is missing
    read_shape(inner, raw.at(key), value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = json.text(key);
  } else if constexpr (std::is_same_v<T, bool>) {
    value = json.flag(key);
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    value = json.numbers(key, range_of(bounds));
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    value = json.texts(key);
  } else if constexpr (std::is_arithmetic_v<T>) {
    value = static_cast<T>(json.number(key, range_of(bounds)));
  } else {
    static_assert(std::is_same_v<T, ordered_json>);
    static_cast<void>(json.object(key));
    value = raw.at(key);
  }
}

template <class Owner, class Member>
void read_value(const JsonObject& json, const ordered_json& raw, const Key<Owner, Member>& key,
                Owner& object) {
  if constexpr (!Key<Owner, Member>::kDerived) {
    if (key.absence == Absence::not_in_oldest && !raw.contains(key.name)) return;
    Member& value = object.*key.member;
    if constexpr (std::is_same_v<Member, double>) {
      value = std::numeric_limits<double>::infinity();
      if (key.absence == Absence::infinite && json.is_null(key.name)) return;
    }
    read_value(json, raw, key.name, key.bounds, value);
  }
}

// The median, which comes first, decides whether the row has times. Another tool may report no
// more.
void read_value(const JsonObject& json, const ordered_json& /*raw*/, const TimeKey& key,
                Record& record) {
  const bool null = json.is_null(key.name);
  if (key.member == &Summary::median && !null) record.time.emplace();
  if (!record.time) return;
  const bool unknown = null && record.status == Status::unverified;
  (*record.time).*key.member = unknown ? std::numeric_limits<double>::quiet_NaN()
                                       : json.number(key.name, range_of(kPositive));
}

template <Keyed T>
void read_object(const JsonObject& json, const ordered_json& raw, T& object) {
  for_each_key<T>([&](const auto& key) { read_value(json, raw, key, object); });
}

// Older records say by the name of the technique or of the operation what newer ones say by a key.
void read_former_names(Record& record, const ordered_json& raw) {
  if (!raw.contains("burst")) record.burst = record.technique.find("burst") != std::string::npos;
  if (record.saturates != Resource::sfu) return;
  if (record.op == "convert_narrow") record.saturates = Resource::narrow;
  if (record.op == "convert_widen") record.saturates = Resource::widen;
}

}  // namespace

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
  const ordered_json raw = ordered_json::parse(line);
  Record record;
  read_object(json, raw, record);
  if (record.time) record.time->samples = record.samples_s.size();
  if (record.time.has_value() != has_time(record.status)) {
    json.reject("time_median_s", "a time for status ok or unverified, null for every other");
  }
  if ((record.origin == Origin::external) != (record.status == Status::unverified)) {
    json.reject("origin", "external with status unverified, and no other status with external");
  }
  read_former_names(record, raw);
  return record;
}

std::vector<Record> read_records(const std::string& directory) {
  const std::string path = directory + "/records.jsonl";
  const std::string text = read_file(path);
  std::vector<Record> records;
  std::set<std::string> ids;
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    const std::string origin = fmt::format("{}:{}", path, records.size() + 1);
    records.push_back(parse_record(std::string_view(text).substr(start, end - start), origin));
    if (!ids.insert(records.back().id).second) {
      throw UsageError(fmt::format("{}: the row {} comes twice; allowed: one line for each row",
                                   origin, records.back().id));
    }
    start = end + 1;
  }
  return records;
}

}  // namespace ridgebench
