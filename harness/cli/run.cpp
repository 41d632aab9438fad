#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "harness/base/stopwatch.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/google_benchmark.hpp"
#include "harness/cli/machine_facts.hpp"
#include "harness/cli/run_loop.hpp"
#include "harness/device/open_devices.hpp"
#include "harness/measure/campaign.hpp"
#include "harness/measure/crash.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/measured_roofs.hpp"
#include "harness/results/results_directory.hpp"
#include "harness/results/resume.hpp"
#include "roofline/device_spec.hpp"

namespace ridgebench {
namespace {

constexpr double kLargestSeed = 0x1p53;  // a JSON number is exact up to here

struct RunOptions {
  RunRequest request;
  std::string profile = "quick";
  std::string regime;
  std::string fill = "normal";
  std::string out;
  std::string resume;
  bool dry_run = false;
  bool take_turns = false;
  bool no_restart = false;
  double spent_s = 0;
};

RunRequest request_of(const RunOptions& options, const std::string& google_filter) {
  if (!options.resume.empty()) {
    if (!google_filter.empty()) throw UsageError("--benchmark_filter excludes --resume");
    return read_request(options.resume);
  }
  RunRequest request = options.request;
  request.profile = parse<Profile>(options.profile);
  request.fill = parse<Fill>(options.fill);
  if (!options.regime.empty()) request.regimes = {parse<Regime>(options.regime)};
  if (!google_filter.empty()) request.filter = google_filter;
  if (!request.roof.empty() && find_data_sheet(request.roof) == nullptr) {
    throw UsageError(
        fmt::format("no data sheet '{}'; allowed: {}", request.roof, data_sheet_names()));
  }
  return request;
}

// Reads the verified ceilings of an earlier run on the same devices.
std::vector<Record> read_ceilings(const std::string& directory,
                                  const std::vector<std::unique_ptr<Device>>& devices) {
  if (directory.empty()) return {};
  const std::vector<MeasuredDevice> measured = read_devices(directory);
  for (const auto& device : devices) {
    const auto model = device->identity().at("model").get<std::string>();
    const auto same = [&](const MeasuredDevice& m) {
      return m.name == device->name() && m.model == model;
    };
    if (std::ranges::none_of(measured, same)) {
      throw UsageError(
          fmt::format("{} holds no ceilings of {} ({})", directory, device->name(), model));
    }
  }
  std::vector<Record> records = read_records(directory);
  std::erase_if(records,
                [](const Record& r) { return r.role != Role::ceiling || r.status != Status::ok; });
  return records;
}

void print_dry_run(const RunPlan& plan) {
  for (const Case& c : plan.cases()) {
    fmt::print("{:<80} {:.0f} bytes\n", c.id(), Buffers::footprint(c.operands(), 1));
  }
  fmt::print("{} cases, about {:.0f} s, {:.0f} bytes for the largest buffer set\n",
             plan.cases().size(), plan.total_seconds(), plan.largest_footprint());
}

// Prints the ids for --benchmark_list_tests.
void list_tests(const RunPlan& plan) {
  for (const Case& c : plan.cases()) {
    if (c.implementation != nullptr) fmt::print("{}\n", c.id());
  }
}

// Finds an unwritable file before the run. An empty path stands for no file.
void require_writable(const std::string& path) {
  if (!path.empty() && !std::ofstream(path, std::ios::app)) {
    throw UsageError(fmt::format(
        "--benchmark_out: cannot write {}; allowed: a file in a folder that exists", path));
  }
}

std::filesystem::path results_path(const RunOptions& options) {
  if (!options.resume.empty()) return options.resume;
  if (!options.out.empty()) return options.out;
  return default_results_path();
}

// The user's variables stand, although a library that is held back is no yardstick.
void warn_of_held_back_libraries(const std::vector<Record>& records) {
  std::set<std::string> variables;
  for (const Record& record : records) {
    if (record.held_back_by && record.status == Status::ok) variables.insert(*record.held_back_by);
  }
  for (const std::string& names : variables) {
    fmt::print(
        stderr,
        "note: {} keeps a library from its best; the flag library_held_back marks its rows\n",
        names);
  }
}

// Returns the command line of the process that goes on with the run after a crash.
std::vector<std::string> after_a_crash(const RunOptions& options, const std::string& path,
                                       const std::vector<std::string>& command_line) {
  if (options.no_restart) return {};
  std::vector<std::string> arguments{command_line.front(), "run", "--resume=" + path};
  if (options.take_turns) arguments.emplace_back("--take-turns");
  // The request is in the folder. The flags of the reports are not.
  std::ranges::copy_if(command_line, std::back_inserter(arguments), [](const std::string& text) {
    return text.starts_with("--benchmark_") && !text.starts_with("--benchmark_filter");
  });
  return arguments;
}

ExitCode run_command(const RunOptions& options, const GoogleFlags& flags,
                     const std::vector<std::string>& command_line) {
  const RunRequest request = request_of(options, flags.filter);
  const auto devices = open_devices(request.device);
  const std::vector<Record> ceilings = read_ceilings(request.ceilings, devices);
  const auto have_ceiling = [&](const Case& c) {
    return std::ranges::any_of(ceilings, [&](const Record& r) { return r.id == c.id(); });
  };
  RunPlan plan(request, devices, have_ceiling);
  if (flags.list_tests) {
    list_tests(plan);
    return ExitCode::fine;
  }
  if (options.dry_run) {
    print_dry_run(plan);
    return ExitCode::fine;
  }
  require_writable(flags.out);
  static_cast<void>(draw_check_seed());  // a value that is no seed must not leave a folder
  const bool resumed = !options.resume.empty();
  const std::filesystem::path path = results_path(options);
  listen_for_signals();
  nlohmann::ordered_json environment =
      make_environment(request, read_machine(devices), command_line);
  if (options.take_turns) environment["samples_per_turn"] = kSamplesPerTurn;
  if (resumed) continue_run(environment, options.resume);
  ResultsDirectory directory(path, resumed);
  std::vector<Record> finished = resumed ? read_records(options.resume) : std::vector<Record>();
  directory.write_environment(environment);
  point_latest_at(path);
  Campaign campaign(std::move(plan), request.fill, request.seed, directory, std::move(finished),
                    ceilings);
  if (options.take_turns) campaign.take_turns();
  campaign.count_spent(options.spent_s);
  catch_crashes(after_a_crash(options, path.string(), command_line));
  const Stopwatch clock;
  run_cases(campaign, directory, flags);
  end_environment(environment, read_machine(devices), clock.seconds());
  directory.write_environment(environment);
  directory.write_checksums();
  warn_of_held_back_libraries(campaign.records());
  fmt::print(stderr, "results: {}\n", path.string());
  return exit_code(campaign.records());
}

// Checks that a number is in a range. CLI11's own check prints bounds with up to 300 digits.
CLI::Validator number_in(double low, double high, std::string allowed) {
  return {[=](const std::string& text) {
            double value = 0;
            const bool number = CLI::detail::lexical_cast(text, value);
            return number && value >= low && value <= high
                       ? std::string()
                       : fmt::format("'{}' is not {}", text, allowed);
          },
          std::move(allowed)};
}

}  // namespace

void add_run_command(CLI::App& app, std::vector<std::string> command_line, ExitCode& code) {
  CLI::App* command = app.add_subcommand("run", "Measure and verify cases");
  const auto options = std::make_shared<RunOptions>();
  RunRequest& request = options->request;
  CLI::Option* resume =
      command->add_option("--resume", options->resume, "Results folder of a run to finish")
          ->check([](const std::string& folder) {
            return std::string(folder.empty() ? "no folder is named" : "");
          });
  const auto add = [&](const char* flag, auto& value, const char* help) {
    return command->add_option(flag, value, help)->excludes(resume);
  };
  add("--device", request.device, "cuda:N, cpu or all; default: every GPU, else cpu");
  add("--profile", options->profile, "quick, standard or full");
  add("--filter", request.filter, "Regular expression on ids");
  add("--out", options->out, "Results folder; default: results/local/<time>");
  add("--regime", options->regime, "steady, cold or warm; default: by profile");
  add("--seed", request.seed, "Seed of the inputs and of the order of cases")
      ->check(number_in(0, kLargestSeed, "a whole number from 0 to 2^53"));
  add("--fill", options->fill, "normal, uniform, zeros or integers");
  add("--budget", request.budget_s, "Seconds for the whole run")
      ->check(number_in(1e-3, 1e9, "a number of seconds from 0.001 to 1e9"));
  add("--ceilings", request.ceilings, "Results folder with ceilings to use");
  add("--roof", request.roof, "Data sheet to draw next to the measured roofs");
  command->add_flag("--dry-run", options->dry_run, "Print cases, bytes and time; measure nothing");
  command->add_flag("--take-turns", options->take_turns,
                    "Stop every few samples until SIGCONT; compare.sh uses it");
  command->add_flag("--no-restart", options->no_restart,
                    "A crash ends the run, for debuggers; default: the other rows are measured");
  command->add_option("--spent", options->spent_s)->group("");  // of the budget, before a crash
  command->allow_extras()->footer(
      "Google Benchmark's flags --benchmark_*: filter, list_tests, out, out_format, format, color");
  command->callback([=, &code, line = std::move(command_line)] {
    code = run_command(*options, parse_google_flags(command->remaining()), line);
  });
}

}  // namespace ridgebench
