#include "roofline/results.hpp"

#include <fmt/format.h>

#include <sstream>

#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

constexpr Range kRate{0, 1e21};  // per second; 0 where a row has no bytes
constexpr Range kFraction{0, 1};
constexpr Range kMfu{1e-12, 10};
constexpr Range kMemoryBytes{1, 1e18};

std::vector<MeasuredDevice> read_devices(const std::string& path) {
  const nlohmann::json json = parse_json(read_file(path), path);
  std::vector<MeasuredDevice> devices;
  for (const JsonObject& device : JsonObject(json, path).objects("devices")) {
    devices.push_back({.name = device.text("name"),
                       .model = device.optional_text("model").value_or("unknown model"),
                       .memory_bytes = device.optional_number("memory_bytes", kMemoryBytes)});
  }
  return devices;
}

ResultRow read_row(const JsonObject& row) {
  return {.id = row.text("id"),
          .op = row.text("op"),
          .technique = row.text("technique"),
          .device = row.text("device"),
          .role = row.text("role"),
          .saturates = row.optional_text("saturates"),
          .engine = row.optional_text("engine").value_or(""),
          .format = row.optional_text("format").value_or(""),
          .arithmetic = row.optional_text("arithmetic").value_or(""),
          .accumulator = row.optional_text("accumulator").value_or(""),
          .regime = row.text("regime"),
          .status = row.text("status"),
          .written_fraction = row.optional_number("written_fraction", kFraction).value_or(0),
          .flops_per_s = row.optional_number("flops_per_s", kRate),
          .bytes_per_s = row.optional_number("bytes_per_s", kRate),
          .mfu = row.optional_number("mfu", kMfu)};
}

std::vector<ResultRow> read_rows(const std::string& path) {
  std::istringstream lines(read_file(path));
  std::vector<ResultRow> rows;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    if (lines.eof()) break;  // no newline: a killed run's last, unfinished line
    const std::string origin = fmt::format("{}:{}", path, ++number);
    const nlohmann::json json = parse_json(line, origin);
    rows.push_back(read_row(JsonObject(json, origin)));
  }
  return rows;
}

}  // namespace

Results read_results(const std::filesystem::path& directory) {
  return {.directory = directory,
          .devices = read_devices((directory / "environment.json").string()),
          .rows = read_rows((directory / "records.jsonl").string())};
}

}  // namespace ridgebench
