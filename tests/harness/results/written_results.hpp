// A results directory of a test. The destructor removes it.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/support/sample_record.hpp"

namespace ridgebench::testing {

using nlohmann::json;
using Rows = std::vector<json>;

class WrittenResults {
 public:
  explicit WrittenResults(
      const std::vector<json>& rows,
      const json& devices = {{{"name", "cpu"}, {"model", "Test host"}, {"memory_bytes", 16e9}}},
      const json& more = json::object())
      : path_(std::filesystem::temp_directory_path() /
              ("ridgebench-test-" + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directory(path_);
    json environment{
        {"devices", devices}, {"interrupted", false}, {"ended", "2026-01-01T00:00:00Z"}};
    environment.update(more);
    write("environment.json", environment.dump());
    std::string lines;
    for (const json& row : rows) lines += row.dump() + "\n";
    write("records.jsonl", lines);
  }
  WrittenResults(const WrittenResults&) = delete;
  WrittenResults& operator=(const WrittenResults&) = delete;
  ~WrittenResults() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Returns an ok steady kernel of device cpu that takes 1 s. `changes` overrides or adds keys.
inline json row(const std::string& id, const json& changes) {
  Record record = sample_record(id);
  record.op = "matmul";
  record.technique = "naive";
  record.role = Role::kernel;
  record.saturates.reset();
  record.engine = Engine::fma;
  record.format = record.arithmetic = Format::fp32;
  record.flops = record.bytes = 1e9;
  record.time = Summary{1, 1, 1, 1, 1, 1, 1};
  record.mfu.reset();
  json result = json::parse(to_json(record).dump());
  result.update(changes);
  return result;
}

inline json memory_ceiling(const std::string& id, double written_fraction, double bytes_per_s) {
  return row(id, {{"op", "dram"},
                  {"role", "ceiling"},
                  {"saturates", "memory"},
                  {"engine", "memory"},
                  {"flops", 0},
                  {"written_fraction", written_fraction},
                  {"bytes", bytes_per_s}});
}

inline json engine_ceiling(const std::string& id, const std::string& engine,
                           const std::string& format, double flops_per_s) {
  return row(id, {{"op", engine},
                  {"role", "ceiling"},
                  {"saturates", engine},
                  {"engine", engine},
                  {"format", format},
                  {"arithmetic", format},
                  {"flops", flops_per_s}});
}

// Returns the message of the error that `action` throws; empty if it throws none.
template <class Error>
std::string message_of(auto&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace ridgebench::testing
