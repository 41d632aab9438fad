#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/bench.hpp"
#include "harness/campaign.hpp"
#include "harness/cli/commands.hpp"
#include "harness/environment.hpp"
#include "harness/results_directory.hpp"
#include "roofline/device_spec.hpp"

namespace ridgepoint {
namespace {

struct RunOptions {
  RunRequest request;
  std::string profile = "quick";
  std::string regime;
  std::string fill = "normal";
  std::string out;
  std::string resume;
  bool dry_run = false;
};

RunRequest request_of(const RunOptions& options, std::vector<std::string>& flags) {
  if (!options.resume.empty()) return read_request(options.resume);
  RunRequest request = options.request;
  request.profile = parse_profile(options.profile);
  request.fill = parse_fill(options.fill);
  if (!options.regime.empty()) request.regimes = {parse_regime(options.regime)};
  const std::string google_filter = take_filter(flags);
  if (!google_filter.empty()) request.filter = google_filter;
  if (!request.roof.empty() && find_data_sheet(request.roof) == nullptr) {
    throw UsageError(
        fmt::format("no data sheet '{}'; allowed: {}", request.roof, data_sheet_names()));
  }
  return request;
}

// Verified ceilings of an earlier run on the same devices.
std::vector<Record> read_ceilings(const std::string& directory,
                                  const std::vector<std::unique_ptr<Device>>& devices) {
  if (directory.empty()) return {};
  const Results results = read_results(directory);
  for (const auto& device : devices) {
    const auto same = [&](const MeasuredDevice& m) {
      return m.name == device->name() && m.model == device->identity().at("model");
    };
    if (std::ranges::none_of(results.devices, same)) {
      throw UsageError(fmt::format("{} holds no ceilings of {} ({})", directory, device->name(),
                                   device->identity().at("model").get<std::string>()));
    }
  }
  std::vector<Record> records = read_records(directory);
  std::erase_if(records,
                [](const Record& r) { return r.row.role != "ceiling" || r.status != Status::ok; });
  return records;
}

void print_dry_run(const RunPlan& plan) {
  for (const Row& row : plan.rows()) {
    fmt::print("{:<80} {:.0f} bytes\n", row.id(), Buffers::footprint(row.operands(), 1));
  }
  fmt::print("{} rows, about {:.0f} s, {:.0f} bytes for the largest buffer set\n",
             plan.rows().size(), plan.total_seconds(), plan.largest_footprint());
}

void execute(Campaign& run, ResultsDirectory& directory, nlohmann::ordered_json& environment,
             const std::vector<std::string>& flags) {
  run_benchmarks(run, directory, flags);
  environment["ended"] = timestamp();
  environment["interrupted"] = false;
  directory.write_environment(environment);
  directory.write_checksums();
}

ExitCode run_command(const RunOptions& options, std::vector<std::string> flags,
                     const std::vector<std::string>& command_line) {
  const RunRequest request = request_of(options, flags);
  const auto devices = open_devices(request.device);
  const std::vector<Record> ceilings = read_ceilings(request.ceilings, devices);
  const auto have_ceiling = [&](const Row& row) {
    return std::ranges::any_of(ceilings, [&](const Record& r) { return r.row.id == row.id(); });
  };
  RunPlan plan(request, devices, have_ceiling);
  if (has_flag(flags, "benchmark_list_tests")) {
    list_benchmarks(plan.rows());
    return ExitCode::fine;
  }
  if (options.dry_run) {
    print_dry_run(plan);
    return ExitCode::fine;
  }
  const bool resumed = !options.resume.empty();
  const std::filesystem::path path = resumed               ? std::filesystem::path(options.resume)
                                     : options.out.empty() ? default_results_path()
                                                           : std::filesystem::path(options.out);
  listen_for_signals();
  ResultsDirectory directory(path, resumed);
  std::vector<Record> finished = resumed ? read_records(options.resume) : std::vector<Record>();
  nlohmann::ordered_json environment = make_environment(request, devices, command_line);
  directory.write_environment(environment);
  point_latest_at(path);
  Campaign run(std::move(plan), request.fill, request.seed, directory, std::move(finished),
               ceilings);
  execute(run, directory, environment, flags);
  fmt::print(stderr, "results: {}\n", path.string());
  return exit_code(run.records());
}

std::vector<std::string> google_flags(const CLI::App& command) {
  std::vector<std::string> flags = command.remaining();
  for (const std::string& flag : flags) {
    if (!flag.starts_with("--benchmark_")) {
      throw UsageError(fmt::format(
          "unknown argument '{}'; `ridgepoint run --help` lists what is allowed", flag));
    }
  }
  return flags;
}

}  // namespace

void add_run_command(CLI::App& app, std::vector<std::string> command_line, ExitCode& code) {
  CLI::App* command = app.add_subcommand("run", "Measure, verify, record, print");
  const auto options = std::make_shared<RunOptions>();
  RunRequest& request = options->request;
  CLI::Option* resume =
      command->add_option("--resume", options->resume, "Finish the run in this folder");
  const auto add = [&](const char* flag, auto& value, const char* help) {
    return command->add_option(flag, value, help)->excludes(resume);
  };
  add("--device", request.device, "cuda:N, cpu or all; default: every GPU found, else cpu");
  add("--profile", options->profile, "quick, standard or full");
  add("--filter", request.filter, "Regular expression on row ids");
  add("--out", options->out, "Results folder; default: results/local/<time>");
  add("--regime", options->regime, "steady, cold or warm; default: by profile");
  add("--seed", request.seed, "Of the inputs and of the order of rows");
  add("--fill", options->fill, "normal, uniform, zeros or integers");
  add("--budget", request.budget_s, "Seconds for the whole run")->check(CLI::PositiveNumber);
  add("--ceilings", request.ceilings, "Results folder whose ceilings are used");
  add("--roof", request.roof, "Data sheet to draw beside the measured roofs");
  command->add_flag("--dry-run", options->dry_run, "Print rows, bytes and time, and stop");
  command->allow_extras()->footer(
      "--benchmark_* flags of Google Benchmark: filter, list_tests, out, format, color");
  command->callback([=, &code, line = std::move(command_line)] {
    code = run_command(*options, google_flags(*command), line);
  });
}

}  // namespace ridgepoint
