#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "harness/results/record.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

constexpr Range kPositive{0, std::numeric_limits<double>::max()};
constexpr Range kCount{0, 0x1p53};

// Formats by their names; the message of an unknown one opens with file, line and key.
template <class Parse>
auto parse_named(const JsonObject& json, const char* key, Parse parse) {
  try {
    return parse(json.text(key));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}: {}", json.origin(), key, error.what()));
  }
}

Shape shape_of(const JsonObject& json, const ordered_json& raw) {
  const JsonObject sizes = json.object("shape");
  std::vector<Shape::Dimension> dimensions;
  std::optional<Layout> layout;
  for (const auto& [key, value] : raw.at("shape").items()) {
    if (key == "layout") {
      layout = sizes.one_of<Layout>("layout");
    } else {
      const double size = sizes.number(key.c_str(), {1, kCount.high});
      dimensions.emplace_back(key, static_cast<std::int64_t>(size));
    }
  }
  return Shape(std::move(dimensions), layout);
}

Record parse_identity(const JsonObject& json, const ordered_json& raw) {
  Record row;
  row.id = json.text("id");
  row.op = json.text("op");
  row.technique = json.text("technique");
  row.backend = json.one_of<Backend>("backend");
  row.device = json.text("device");
  row.origin = json.one_of<Origin>("origin");
  row.role = json.one_of<Role>("role");
  row.saturates = json.optional_one_of<Resource>("saturates");
  if (const auto level = json.optional_number("level", {1, 9}))
    row.level = static_cast<int>(*level);
  row.engine = json.one_of<Engine>("engine");
  row.format = parse_named(json, "format", parse_format_pair);
  row.arithmetic = parse_named(json, "arithmetic", parse_format_pair);
  row.accumulator = parse_named(json, "accumulator", parse_format);
  if (raw.contains("accumulator_bits")) {  // not before ridgebench
    if (const auto bits = json.optional_number("accumulator_bits", {1, 52}))
      row.accumulator_bits = static_cast<int>(*bits);
  }
  row.isa = json.optional_one_of<Isa>("isa");
  row.shape = shape_of(json, raw);
  row.regime = json.one_of<Regime>("regime");
  row.flops = json.number("flops", kPositive);
  row.bytes = json.number("bytes", kPositive);
  row.written_fraction = json.number("written_fraction", {0, 1});
  return row;
}

std::optional<Summary> parse_times(const JsonObject& json, std::size_t samples) {
  const auto median = json.optional_number("time_median_s", kPositive);
  if (!median) return std::nullopt;
  return Summary{.median = *median,
                 .ci_low = json.number("time_ci_low_s", kPositive),
                 .ci_high = json.number("time_ci_high_s", kPositive),
                 .min = json.number("time_min_s", kPositive),
                 .p10 = json.number("time_p10_s", kPositive),
                 .p90 = json.number("time_p90_s", kPositive),
                 .samples = samples};
}

std::vector<double> parse_samples(const JsonObject& json, const ordered_json& raw) {
  const auto samples = raw.find("samples_s");
  const auto valid = [](const ordered_json& s) { return s.is_number() && s.get<double>() >= 0; };
  if (samples == raw.end() || !samples->is_array() ||
      !std::all_of(samples->begin(), samples->end(), valid)) {
    json.reject("samples_s", "a list of numbers that are not negative");
  }
  return samples->get<std::vector<double>>();
}

std::optional<RecordedRoof> parse_roof(const JsonObject& json) {
  const auto roof = json.optional_object("roof");
  if (!roof) return std::nullopt;
  return RecordedRoof{.flops_per_s = roof->optional_number("flops_per_s", kPositive),
                      .bytes_per_s = roof->optional_number("bytes_per_s", kPositive),
                      .compute_ceiling = roof->optional_text("compute_ceiling"),
                      .memory_ceiling = roof->optional_text("memory_ceiling")};
}

double parse_error(const JsonObject& json) {
  return json.optional_number("error", kPositive).value_or(std::numeric_limits<double>::infinity());
}

// Absent in records of version 0.1.
std::optional<Witness> parse_witness(const JsonObject& verify, const ordered_json& raw) {
  if (!raw.contains("witness")) return std::nullopt;
  const auto witness = verify.optional_object("witness");
  if (!witness) return std::nullopt;
  return Witness{.technique = witness->text("technique"), .error = parse_error(*witness)};
}

std::optional<Verification> parse_verify(const JsonObject& json, const ordered_json& raw) {
  const auto verify = json.optional_object("verify");
  if (!verify) return std::nullopt;
  const auto exact = raw.at("verify").find("exact");
  if (exact == raw.at("verify").end() || !exact->is_boolean()) {
    verify->reject("exact", "true or false");
  }
  return Verification{.error = parse_error(*verify),
                      .tolerance = verify->number("tolerance", kPositive),
                      .elements = static_cast<std::int64_t>(verify->number("elements", kCount)),
                      .exact = exact->get<bool>(),
                      .witness = parse_witness(*verify, raw.at("verify"))};
}

}  // namespace

Record parse_record(std::string_view line, const std::string& origin) {
  const nlohmann::json checked = parse_json(line, origin);
  const JsonObject json(checked, origin);
  const ordered_json raw = ordered_json::parse(line);  // dimensions keep their order
  if (json.text("schema") != kRecordSchema) json.reject("schema", kRecordSchema);
  Record record = parse_identity(json, raw);
  record.status = json.one_of<Status>("status");
  record.reason = json.optional_text("reason");
  if (raw.contains("seed")) {  // older runs have neither
    if (const auto seed = json.optional_number("seed", kCount))
      record.seed = static_cast<std::uint64_t>(*seed);
  }
  if (raw.contains("fill")) record.fill = json.optional_text("fill");
  record.sets = static_cast<std::int64_t>(json.number("sets", kCount));
  record.samples_s = parse_samples(json, raw);
  if (raw.contains("samples_per_batch")) {  // not before method version 2
    record.samples_per_batch =
        static_cast<std::int64_t>(json.number("samples_per_batch", {1, kCount.high}));
  }
  record.launches_per_sample =
      static_cast<std::int64_t>(json.number("launches_per_sample", kCount));
  record.time = parse_times(json, record.samples_s.size());
  record.clock_hz = json.optional_number("clock_hz", kPositive);
  record.bound = json.optional_one_of<Limit>("bound");
  record.mfu = json.optional_number("mfu", kPositive);
  record.fraction_of_roof_at_clock = json.optional_number("fraction_of_roof_at_clock", kPositive);
  record.fraction_of_measured_roof = json.optional_number("fraction_of_measured_roof", kPositive);
  record.roof = parse_roof(json);
  record.verify = parse_verify(json, raw);
  static_cast<void>(json.object("telemetry"));
  record.telemetry = raw.at("telemetry");
  record.flags = json.texts("flags");
  if (record.time.has_value() != (record.status == Status::ok)) {
    json.reject("time_median_s", "a time for status ok, null for every other");
  }
  return record;
}

std::vector<Record> read_records(const std::string& directory) {
  const std::string path = directory + "/records.jsonl";
  const std::string text = read_file(path);
  std::vector<Record> records;
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    const std::string origin = fmt::format("{}:{}", path, records.size() + 1);
    records.push_back(parse_record(std::string_view(text).substr(start, end - start), origin));
    start = end + 1;
  }
  return records;
}

}  // namespace ridgebench
