#include "harness/cli/bench.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/cli/progress.hpp"
#include "harness/cli/table.hpp"

namespace ridgebench {
namespace {

using benchmark::BenchmarkReporter;
using Runs = std::vector<BenchmarkReporter::Run>;

// Each of these can also be set by a variable such as BENCHMARK_REPETITIONS, which would run rows
// twice or leave some out behind our back.
constexpr std::array kArguments{"ridgebench",
                                "--benchmark_filter=.",
                                "--benchmark_list_tests=false",
                                "--benchmark_repetitions=1",
                                "--benchmark_min_warmup_time=0",
                                "--benchmark_enable_random_interleaving=false",
                                "--benchmark_perf_counters=",
                                "--benchmark_format=console",
                                "--benchmark_out=",
                                "--benchmark_out_format=json"};

// Keeps the runs in Google Benchmark's form, and the progress line up to date.
class Collector final : public BenchmarkReporter {
 public:
  explicit Collector(const Campaign& run) : run_(&run), progress_(run.rows().size()) {}

  bool ReportContext(const Context& /*context*/) override { return true; }

  // A row that was not run, because the run was stopped, has no record.
  void ReportRuns(const Runs& runs) override {
    const auto& records = run_->records();
    if (records.size() == seen_) return;
    seen_ = records.size();
    std::ranges::transform(runs, std::back_inserter(runs_), named_by_id);
    progress_.update(seen_, records.back().id);
  }

  void Finalize() override { progress_.clear(); }

  [[nodiscard]] const Runs& runs() const { return runs_; }

 private:
  // Google Benchmark appends its own settings to a name; ours is the row's id and nothing else.
  static Run named_by_id(const Run& run) {
    Run copy = run;
    copy.run_name.iterations.clear();
    copy.run_name.time_type.clear();
    return copy;
  }

  const Campaign* run_;
  Progress progress_;
  std::size_t seen_ = 0;
  Runs runs_;
};

std::unique_ptr<BenchmarkReporter> make_reporter(const std::string& format) {
  if (format == "json") return std::make_unique<benchmark::JSONReporter>();
  if (format == "console") {
    return std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_None);
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // its successor has yet to come
  return std::make_unique<benchmark::CSVReporter>();
#pragma GCC diagnostic pop
}

// Google Benchmark's JSON without what is not true of our runs or nobody's business: Debian's build
// of the library calls itself a debug build, the clock is not the one held, and of the host's name
// environment.json has a hash.
std::string with_honest_context(const std::string& text) {
  auto json = nlohmann::ordered_json::parse(text);
  auto& context = json["context"];
  context["library_build_type"] = "release";
  context.erase("mhz_per_cpu");
  context.erase("host_name");
  return json.dump(2) + "\n";
}

// All runs at once: the CSV reporter learns its columns from the first runs that it sees.
std::string render(const Runs& runs, const std::string& format) {
  std::ostringstream text;
  std::ostringstream warnings;  // about this library's build and the clock: dropped, as above
  const auto reporter = make_reporter(format);
  reporter->SetOutputStream(&text);
  reporter->SetErrorStream(&warnings);
  BenchmarkReporter::Context context;
  context.name_field_width = 0;  // its constructor leaves it uninitialised
  for (const auto& run : runs) {
    context.name_field_width = std::max(context.name_field_width, run.benchmark_name().size());
  }
  reporter->ReportContext(context);
  if (!runs.empty()) reporter->ReportRuns(runs);
  reporter->Finalize();
  return format == "json" ? with_honest_context(text.str()) : text.str();
}

// Rows without a time are not Google Benchmark's to compare; records.jsonl has them.
Runs timed(Runs runs) {
  std::erase_if(runs, [](const auto& run) { return run.counters.empty(); });
  return runs;
}

void set_counters(benchmark::State& state, const Record& record) {
  state.counters["samples"] = static_cast<double>(record.samples_s.size());
  const auto set = [&](const char* name, const std::optional<double>& value) {
    if (value) state.counters[name] = *value;  // a counter without a value would be NaN in the JSON
  };
  set("flops_per_s", record.flops_per_s());
  set("bytes_per_s", record.bytes_per_s());
  set("mfu", record.mfu);
  set("fraction_of_measured_roof", record.fraction_of_measured_roof);
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

void initialize() {
  // Google Benchmark keeps a pointer to the first of them, the program's name.
  static std::vector<std::string> texts(kArguments.begin(), kArguments.end());
  std::vector<char*> arguments(texts.size());
  std::ranges::transform(texts, arguments.begin(), [](std::string& text) { return text.data(); });
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
}

// Not atomic: the user may name a device such as /dev/stdout, which must not be replaced.
void write_copy(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text).flush()) throw StorageError("cannot write " + path);
}

// The screen first: it shows what was measured even where the disk is full.
void report(const Campaign& run, const Runs& runs, const ResultsDirectory& directory,
            const GoogleFlags& flags) {
  if (flags.format == "console") {
    print_table(std::cout, run.records());
  } else {
    std::cout << render(runs, flags.format);
  }
  std::cout.flush();
  write_atomically(directory.path() / "benchmark.json", render(timed(runs), "json"));
  if (!flags.out.empty()) write_copy(flags.out, render(runs, flags.out_format));
}

}  // namespace

void list_benchmarks(const std::vector<Case>& rows) {
  for (const Case& row : rows) {
    if (row.implementation != nullptr) fmt::print("{}\n", row.id());
  }
}

void run_benchmarks(Campaign& run, const ResultsDirectory& directory, const GoogleFlags& flags) {
  initialize();
  std::exception_ptr stopped;
  for (std::size_t i = 0; i < run.rows().size(); ++i) {
    benchmark::RegisterBenchmark(
        run.rows()[i].id().c_str(),
        [&run, i, &stopped](benchmark::State& state) { run_row(state, run, i, stopped); })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  Collector collector(run);
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::Shutdown();
  report(run, collector.runs(), directory, flags);
  if (stopped) std::rethrow_exception(stopped);
}

}  // namespace ridgebench
