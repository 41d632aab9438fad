#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <type_traits>

#include "harness/base/printable.hpp"
#include "harness/cli/google_benchmark.hpp"
#include "harness/results/environment.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

using benchmark::BenchmarkReporter;
using Run = BenchmarkReporter::Run;

// Google Benchmark 1.8 renamed these members.
template <class AnyRun>
void set_error(AnyRun& run, const std::string& reason) {
  if constexpr (requires { run.error_occurred; }) {
    run.error_occurred = true;
    run.error_message = reason;
  } else {
    run.skipped = std::remove_cvref_t<decltype(run.skipped)>::SkippedWithError;
    run.skip_message = reason;
  }
}

void set_counters(Run& run, const Record& record) {
  run.counters["samples"] = static_cast<double>(record.samples_s.size());
  const auto set = [&](const char* name, const std::optional<double>& value) {
    if (value) run.counters[name] = *value;  // the JSON reporter writes a missing value as NaN
  };
  set("flops_per_s", record.flops_per_s());
  set("bytes_per_s", record.bytes_per_s());
  set("mfu", record.mfu);
  set("fraction_of_measured_roof", record.fraction_of_measured_roof);
}

// Google Benchmark's tools divide by the real time and by the CPU time, so both hold our wall time.
Run run_of(const Record& record, std::int64_t index) {
  Run run;
  run.run_name.function_name = printable(record.id);
  run.family_index = index;
  run.per_family_instance_index = 0;
  run.repetition_index = 0;
  run.repetitions = 1;
  run.statistics = nullptr;
  run.time_unit = benchmark::kMicrosecond;
  if (record.time) {
    run.real_accumulated_time = run.cpu_accumulated_time = record.time->median;
    set_counters(run, record);
  }
  if (record.reason) set_error(run, printable(*record.reason));
  return run;
}

// Sets the width of the names, because ReportContext would also print the host's clock.
class Console final : public benchmark::ConsoleReporter {
 public:
  explicit Console(const std::vector<Run>& runs) : ConsoleReporter(OO_None) {
    for (const Run& run : runs) {
      name_field_width_ = std::max(name_field_width_, run.benchmark_name().size());
    }
  }
};

std::unique_ptr<BenchmarkReporter> make_reporter(const std::string& format,
                                                 const std::vector<Run>& runs) {
  if (format == "json") return std::make_unique<benchmark::JSONReporter>();
  if (format == "console") return std::make_unique<Console>(runs);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the library has no successor yet
  return std::make_unique<benchmark::CSVReporter>();
#pragma GCC diagnostic pop
}

// Replaces JSONReporter::ReportContext, which would write three wrong values: the build type of
// Debian's library (debug), a clock other than the one held, and the host name, which is private.
std::string json_context() {
  const nlohmann::ordered_json context{{"date", timestamp()},
                                       {"executable", "ridgebench"},
                                       {"num_cpus", benchmark::CPUInfo::Get().num_cpus},
                                       {"library_build_type", "release"},
                                       {"json_schema_version", 1}};
  return fmt::format("{{\n  \"context\": {},\n  \"benchmarks\": [\n", json_line(context));
}

}  // namespace

std::string google_report(const std::vector<Record>& records, const std::string& format) {
  std::vector<Run> runs;
  for (const Record& record : records) runs.push_back(run_of(record, std::ssize(runs)));
  std::ostringstream text;
  const auto reporter = make_reporter(format, runs);
  reporter->SetOutputStream(&text);
  if (format == "json") text << json_context();
  // The CSV reporter takes its columns from the first call, so one call reports all runs.
  if (!runs.empty()) reporter->ReportRuns(runs);
  reporter->Finalize();
  return text.str();
}

std::string report_of_rows(std::vector<Record> records) {
  std::erase_if(records, [](const Record& record) { return record.status == Status::skipped; });
  return google_report(records, "json");
}

}  // namespace ridgebench
