#include "harness/bench.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include "harness/progress.hpp"
#include "harness/table.hpp"
#include "kernels/common/error.hpp"

namespace ridgepoint {
namespace {

using benchmark::BenchmarkReporter;

// Google Benchmark appends its own settings to a name; ours is the row's id and nothing else.
BenchmarkReporter::Run renamed(const BenchmarkReporter::Run& run) {
  BenchmarkReporter::Run copy = run;
  copy.run_name.iterations.clear();
  copy.run_name.time_type.clear();
  return copy;
}

// Google Benchmark's JSON without what is not true of a run of ours: Debian's build of the library
// calls itself a debug build although it is not, and the clocks it reads are not the ones held.
class JsonFile {
 public:
  explicit JsonFile(std::filesystem::path path) : path_(std::move(path)) {
    reporter_.SetOutputStream(&text_);
    reporter_.SetErrorStream(&text_);
  }

  void report_context(const BenchmarkReporter::Context& context) {
    reporter_.ReportContext(context);
    std::string header = text_.str();
    replace_line(header, "\"library_build_type\"", "    \"library_build_type\": \"release\"");
    replace_line(header, "\"cpu_scaling_enabled\"", "    \"cpu_scaling_enabled\": false,");
    text_.str({});
    text_ << header;
  }

  // Rows without a time are not Google Benchmark's to compare; records.jsonl has them.
  void report_runs(const std::vector<BenchmarkReporter::Run>& runs) {
    if (!runs.empty() && runs.front().counters.contains("status_ok")) {
      std::vector<BenchmarkReporter::Run> timed = runs;
      for (auto& run : timed) run.counters.erase("status_ok");
      reporter_.ReportRuns(timed);
    }
  }

  void finish() {
    reporter_.Finalize();
    write_atomically(path_, text_.str());
  }

 private:
  static void replace_line(std::string& text, std::string_view key, std::string_view line) {
    const std::size_t at = text.find(key);
    if (at == std::string::npos) return;
    const std::size_t start = text.rfind('\n', at) + 1;
    text.replace(start, text.find('\n', at) - start, line);
  }

  std::filesystem::path path_;
  std::ostringstream text_;
  benchmark::JSONReporter reporter_;
};

// Hands every row to benchmark.json, to the progress line, and to what the user wants to see.
class Reporter final : public BenchmarkReporter {
 public:
  // `display` is null for our own table.
  Reporter(const Campaign& run, std::filesystem::path json,
           std::unique_ptr<BenchmarkReporter> display)
      : run_(&run),
        json_(std::move(json)),
        display_(std::move(display)),
        progress_(run.rows().size()) {}

  bool ReportContext(const Context& context) override {
    json_.report_context(context);
    return !display_ || display_->ReportContext(context);
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> named;
    std::ranges::transform(runs, std::back_inserter(named), renamed);
    json_.report_runs(named);
    if (display_) {
      for (auto& run : named) run.counters.erase("status_ok");
      display_->ReportRuns(named);
    }
    if (!run_->records().empty())
      progress_.update(run_->records().size(), run_->records().back().row.id);
  }

  void Finalize() override {
    progress_.clear();
    json_.finish();
    if (display_)
      display_->Finalize();
    else
      print_table(std::cout, run_->records());
  }

 private:
  const Campaign* run_;
  JsonFile json_;
  std::unique_ptr<BenchmarkReporter> display_;
  Progress progress_;
};

void set_counters(benchmark::State& state, const Record& record) {
  state.counters["status_ok"] = 1;
  const auto set = [&](const char* name, const std::optional<double>& value) {
    if (value) state.counters[name] = *value;  // a counter without a value would be NaN in the JSON
  };
  set("flops_per_s", record.flops_per_s());
  set("bytes_per_s", record.bytes_per_s());
  set("mfu", record.mfu);
  set("fraction_of_measured_roof", record.fraction_of_measured_roof);
  set("samples", static_cast<double>(record.samples_s.size()));
}

// One row as Google Benchmark sees it. `stopped` keeps what ended the run; later rows do nothing.
void run_row(benchmark::State& state, Campaign& run, std::size_t index,
             std::exception_ptr& stopped) {
  double seconds = 0;
  std::string error = "not run";
  if (!stopped) {
    try {
      const Record& record = run.measure(index);
      error = record.reason.value_or("");
      if (record.time) {
        seconds = record.time->median;
        set_counters(state, record);
      }
    } catch (...) {
      stopped = std::current_exception();
    }
  }
  if (!error.empty()) state.SkipWithError(error.c_str());
  for ([[maybe_unused]] auto iteration : state) state.SetIterationTime(seconds);
}

bool matches(std::string_view flag, std::string_view name) {
  while (flag.starts_with('-')) flag.remove_prefix(1);
  return flag.substr(0, flag.find('=')) == name;
}

void initialize(std::vector<std::string>& flags) {
  flags.insert(flags.begin(), "ridgepoint");
  std::vector<char*> arguments;
  for (std::string& flag : flags) arguments.push_back(flag.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) {
    throw UsageError(
        fmt::format("unknown flag {}; `ridgepoint run --help` lists them", arguments[1]));
  }
}

bool wants_google_format(const std::vector<std::string>& flags) {
  return std::ranges::any_of(flags, [](const std::string& flag) {
    return matches(flag, "benchmark_format") && !flag.ends_with("=console");
  });
}

}  // namespace

bool has_flag(const std::vector<std::string>& flags, std::string_view name) {
  return std::ranges::any_of(flags, [&](const std::string& flag) {
    return matches(flag, name) && !flag.ends_with("=false");
  });
}

std::string take_filter(std::vector<std::string>& flags) {
  for (const char* replaced : {"benchmark_min_time", "benchmark_min_warmup_time",
                               "benchmark_repetitions", "benchmark_enable_random_interleaving"}) {
    if (has_flag(flags, replaced)) {
      throw UsageError(fmt::format(
          "--{} has no meaning here: sampling stops by precision; use --budget SECONDS", replaced));
    }
  }
  std::string filter;
  std::erase_if(flags, [&](const std::string& flag) {
    if (!matches(flag, "benchmark_filter")) return false;
    filter = flag.substr(std::min(flag.find('=') + 1, flag.size()));
    return true;
  });
  return filter;
}

void list_benchmarks(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if (row.implementation != nullptr) fmt::print("{}\n", row.id());
  }
}

void run_benchmarks(Campaign& run, const ResultsDirectory& directory,
                    std::vector<std::string> flags) {
  const bool google_format = wants_google_format(flags);
  initialize(flags);
  std::exception_ptr stopped;
  for (std::size_t i = 0; i < run.rows().size(); ++i) {
    benchmark::RegisterBenchmark(
        run.rows()[i].id().c_str(),
        [&run, i, &stopped](benchmark::State& state) { run_row(state, run, i, stopped); })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  std::unique_ptr<BenchmarkReporter> display;
  if (google_format) display.reset(benchmark::CreateDefaultDisplayReporter());
  Reporter reporter(run, directory.path() / "benchmark.json", std::move(display));
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  if (stopped) std::rethrow_exception(stopped);
}

}  // namespace ridgepoint
