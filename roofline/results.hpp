// What the roofline needs of a results directory: the devices it was measured on and its rows.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ridgebench {

struct MeasuredDevice {
  std::string name;  // "cpu", "cuda:0"
  std::string model;
  std::optional<double> memory_bytes;
};

// One line of records.jsonl; formats and engines stay text, since rows may use more than a ceiling.
struct ResultRow {
  std::string id;
  std::string op;
  std::string technique;
  std::string device;
  std::string role;
  std::optional<std::string> saturates;
  std::string engine;
  std::string format;
  std::string arithmetic;
  std::string accumulator;
  std::string regime;
  std::string status;
  double written_fraction;
  std::optional<double> flops_per_s;
  std::optional<double> bytes_per_s;
  std::optional<double> mfu;
};

struct Results {
  std::filesystem::path directory;
  std::vector<MeasuredDevice> devices;
  std::vector<ResultRow> rows;
};

// Reads environment.json and records.jsonl. Throws UsageError: one line with file, line and key.
Results read_results(const std::filesystem::path& directory);

}  // namespace ridgebench
