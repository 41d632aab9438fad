#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "harness/base/loaded_kernels.hpp"
#include "harness/base/printable.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/google_benchmark.hpp"
#include "harness/cli/machine_facts.hpp"
#include "harness/cli/node/node.hpp"
#include "harness/cli/node/options.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/options/case_options.hpp"
#include "harness/cli/python/python_commands.hpp"
#include "harness/cli/run/dry_run.hpp"
#include "harness/cli/run/earlier_ceilings.hpp"
#include "harness/cli/run/measure_plan.hpp"
#include "harness/cli/run/refuse_request.hpp"
#include "harness/cli/run_loop.hpp"
#include "harness/cli/run_notes.hpp"
#include "harness/device/open_devices.hpp"
#include "harness/measure/probing/probe_cost.hpp"
#include "harness/results/files/resume.hpp"
#include "harness/results/results_directory.hpp"
#include "kernels/common/number.hpp"
#include "roofline/device_spec.hpp"

namespace ridgebench {
namespace {

constexpr std::array kSolutionFlags{"--solution", "--problem"};

struct RunOptions {
  RunRequest request;
  CaseOptions cases;
  std::string profile = "quick";
  std::string regime;
  std::string fill = "normal";
  std::string out;
  std::string resume;
  std::string junit;
  std::string solution;
  std::string problem;
  bool retry = false;
  bool dry_run = false;
  bool json = false;
  bool take_turns = false;
  bool no_restart = false;
  bool no_early = false;
  bool no_plot = false;
  NodeOptions node;
  double spent_s = 0;
};

// A folder of `run --concurrent` has a run for each GPU.
void refuse_node(const std::string& folder) {
  if (!holds_node(folder)) return;
  throw UsageError(fmt::format("{} holds all GPUs of a node; allowed: run --concurrent --resume {}",
                               folder, folder));
}

RunRequest request_of(const RunOptions& options, const std::string& google_filter) {
  if (!options.resume.empty()) {
    if (!google_filter.empty()) throw UsageError("--benchmark_filter excludes --resume");
    refuse_node(options.resume);
    const RunRequest request = read_request(options.resume);
    require_same_kernels(options.resume);  // the filter may name cases of a loaded file
    return request;
  }
  RunRequest request = options.request;
  request.names = options.cases.names();
  request.profile = parse<Profile>(options.profile);
  request.fill = parse<Fill>(options.fill);
  request.early_launches = !options.no_early;
  if (!options.regime.empty()) request.regimes = {parse<Regime>(options.regime)};
  if (!google_filter.empty()) {
    if (!request.filter.empty()) {
      throw UsageError("--filter with --benchmark_filter; allowed: one of them");
    }
    request.filter = google_filter;
  }
  if (!request.roof.empty() && find_data_sheet(request.roof) == nullptr) {
    static_cast<void>(open_data_sheet(request.roof));  // refuses what is not a sheet
    // The figures find the file from any folder.
    request.roof = std::filesystem::absolute(request.roof).string();
  }
  refuse_request(request);
  return request;
}

// Finds an unwritable file before the run. An empty path represents no file.
void require_writable(const char* flag, const std::string& path) {
  if (path.empty()) return;
  const bool is_new = access(path.c_str(), F_OK) != 0;
  // O_NONBLOCK: open() refuses a FIFO without a reader, and would wait for one otherwise.
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
  if (file < 0) {
    throw UsageError(
        fmt::format("{}: cannot write {}; allowed: a file in a folder that exists", flag, path));
  }
  close(file);
  if (is_new) unlink(path.c_str());  // the run writes it at its end
}

std::filesystem::path results_path(const RunOptions& options) {
  if (!options.resume.empty()) return options.resume;
  if (!options.out.empty()) return options.out;
  return create_default_folder();
}

using Devices = std::vector<std::unique_ptr<Device>>;

RunPlan make_plan(const RunRequest& request, const Devices& devices,
                  const std::vector<Record>& ceilings) {
  return {request, devices, [&](const Case& c) {
            return std::ranges::any_of(ceilings, [&](const Record& r) { return r.id == c.id(); });
          }};
}

// The rows that `--resume` keeps. Throws UsageError if the run cannot go on here.
std::vector<Record> finished_rows(const RunOptions& options, const RunRequest& request,
                                  const Devices& devices,
                                  const std::vector<std::string>& command_line) {
  auto environment = make_environment(request, read_machine(devices), command_line);
  continue_run(environment, options.resume);
  std::vector<Record> finished = read_records(options.resume);
  if (options.retry) {
    std::erase_if(finished, [](const Record& r) {
      return std::ranges::find(kRetried, r.status) != kRetried.end();
    });
  }
  return finished;
}

// Returns the command line of the process that goes on with the run after a crash.
std::vector<std::string> after_a_crash(const RunOptions& options,
                                       const std::filesystem::path& folder,
                                       const std::vector<std::string>& command_line) {
  if (options.no_restart) return {};
  std::vector<std::string> arguments{command_line.front(), "run", "--resume=" + folder.string()};
  if (options.take_turns) arguments.emplace_back("--take-turns");
  if (options.no_plot) arguments.emplace_back("--no-plot");
  if (!options.junit.empty()) arguments.push_back("--junit=" + options.junit);
  add_load_arguments(arguments);
  // The request is in the folder. The flags of the reports are not.
  std::ranges::copy_if(command_line, std::back_inserter(arguments), [](const std::string& text) {
    return text.starts_with("--benchmark_") && !text.starts_with("--benchmark_filter");
  });
  return arguments;
}

GoogleFlags flags_of(const std::vector<std::string>& arguments, bool json) {
  GoogleFlags flags = parse_google_flags(arguments);
  if (!json) return flags;
  if (flags.format != GoogleFlags().format) {
    throw UsageError("--json with --benchmark_format; allowed: one of them");
  }
  flags.format = kRowsFormat;
  return flags;
}

ExitCode run_node(const RunOptions& options, const GoogleFlags& flags,
                  const std::vector<std::string>& command_line) {
  if (flags.list_tests || !flags.out.empty() || flags.format != "console") {
    throw UsageError(
        "--concurrent with a flag of Google Benchmark's reports; allowed: --benchmark_filter");
  }
  if (options.resume.empty()) {
    static_cast<void>(request_of(options, flags.filter));  // refuses what every GPU would refuse
  } else if (!flags.filter.empty()) {
    throw UsageError("--benchmark_filter excludes --resume");
  }
  return measure_node({.device = options.request.device,
                       .out = options.out,
                       .budget_s = options.request.budget_s,
                       .limit_s = options.node.hang_limit_s,
                       .dry_run = options.dry_run,
                       .resume = options.resume,
                       .retry = options.retry},
                      command_line);
}

ExitCode run_command(const RunOptions& options, const GoogleFlags& flags,
                     const std::vector<std::string>& command_line) {
  const Stopwatch clock;
  if (flags.list_tests && (options.json || options.dry_run)) {
    throw UsageError(fmt::format("--benchmark_list_tests with {}; allowed: one of them",
                                 options.json ? "--json" : "--dry-run"));
  }
  if (options.node.concurrent) return run_node(options, flags, command_line);
  const RunRequest request = request_of(options, flags.filter);
  const Devices devices = open_devices(request.device);
  EarlierCeilings ceilings = read_ceilings(request, devices, command_line);
  std::vector<Record> known = ceilings.records;
  if (options.dry_run && !options.resume.empty()) {
    std::ranges::move(finished_rows(options, request, devices, command_line),
                      std::back_inserter(known));
  }
  RunPlan plan = make_plan(request, devices, known);
  if (flags.list_tests) {
    list_tests(plan);
    return ExitCode::fine;
  }
  require_writable("--benchmark_out", flags.out);
  require_writable("--junit", options.junit);
  static_cast<void>(draw_check_seed());  // a value that is not a seed must not leave a folder
  static_cast<void>(probes_wanted());
  if (!ceilings.unusable.empty()) {
    write_error(fmt::format("note: {}; without --ceilings the run measures its own\n",
                            printable(ceilings.unusable)));
    ceilings.records.clear();  // the plan has counted on them
  }
  if (options.dry_run) {
    std::optional<nlohmann::ordered_json> environment;
    if (options.json) environment = make_environment(request, read_machine(devices), command_line);
    return print_dry_run(plan, environment);
  }
  listen_for_signals();
  const std::filesystem::path folder = results_path(options);
  return measure_plan(std::move(plan),
                      {.request = request,
                       .folder = folder,
                       .command_line = command_line,
                       .after_a_crash = after_a_crash(options, folder, command_line),
                       .flags = flags,
                       .junit = options.junit,
                       .ceilings = std::move(ceilings.records),
                       .roofs_unknown = std::move(ceilings.unusable),
                       .resume = !options.resume.empty(),
                       .retry = options.retry,
                       .take_turns = options.take_turns,
                       .together = options.node.together,
                       .plot = !options.no_plot,
                       .spent_s = options.spent_s},
                      devices, clock);
}

// The words of `run` without the options that name a solution and its problem, each with its value.
std::vector<std::string> without_solution(const std::vector<std::string>& command_line) {
  std::vector<std::string> words;
  bool is_value = false;
  for (std::size_t i = 2; i < command_line.size(); ++i) {
    const std::string& word = command_line[i];
    const auto names = [&](const char* flag) { return word == flag; };
    const auto assigns = [&](const char* flag) {
      return word.starts_with(fmt::format("{}=", flag));
    };
    const bool own = std::ranges::any_of(kSolutionFlags, names);
    if (!is_value && !own && std::ranges::none_of(kSolutionFlags, assigns)) words.push_back(word);
    is_value = own;
  }
  return words;
}

// A command in Python makes a file of kernels of the solution and runs `run --load` on it.
void run_solution(const RunOptions& options, const std::vector<std::string>& command_line) {
  std::vector<std::string> words{command_line.front(), "solution", options.solution,
                                 options.problem};
  std::ranges::copy(without_solution(command_line), std::back_inserter(words));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  run_python_command(static_cast<int>(arguments.size()), arguments.data());
}

void add_flags(CLI::App& command, RunOptions& options) {
  command.add_flag("--no-plot", options.no_plot,
                   "No roofline after the table; default: on a terminal of 60 columns or more");
  command.add_flag("--dry-run", options.dry_run,
                   "Print cases, bytes, time and what would be skipped");
  command.add_flag("--no-restart", options.no_restart,
                   "A crash ends the run, for debuggers; default: the other rows are measured");
  command.add_option("--spent", options.spent_s)->group("");  // of the budget, before a crash
}

void add_solution_options(CLI::App& command, RunOptions& options, CLI::Option* resume) {
  CLI::Option* solution =
      command.add_option("--solution", options.solution, "Solution of a problem: solution.json")
          ->check(not_empty())
          ->excludes(resume)
          ->type_name("FILE");
  command
      .add_option("--problem", options.problem, "Its problem; default: beside it, or problems/NAME")
      ->check(not_empty())
      ->needs(solution)
      ->type_name("DIR");
}

}  // namespace

void add_run_command(CLI::App& app, const std::vector<std::string>& command_line, ExitCode& code) {
  CLI::App* command = app.add_subcommand("run", "Measure and verify cases");
  const auto options = std::make_shared<RunOptions>();
  RunRequest& request = options->request;
  std::vector<CLI::Option*> chosen;  // what a run that is finished has chosen already
  const auto add = [&](const char* flag, auto& value, const char* help) {
    chosen.push_back(command->add_option(flag, value, help));
    return chosen.back();
  };
  add("--device", request.device, kDeviceHelp)->check(not_empty())->type_name("DEVICE");
  add("--profile", options->profile, "quick, standard, full or lecture")->type_name("PROFILE");
  add("--filter", request.filter, kFilterHelp);
  std::ranges::copy(options->cases.add_to(*command), std::back_inserter(chosen));
  add("--out", options->out, "Results folder; default: results/local/<time>")
      ->check(not_empty())
      ->type_name("DIR");
  CLI::Option* resume =
      command->add_option("--resume", options->resume, "Results folder of a run to finish")
          ->check(not_empty())
          ->type_name("DIR");
  command
      ->add_flag("--retry", options->retry,
                 "With --resume: also measure failed and suspect rows again")
      ->needs(resume);
  CLI::Option* junit =
      command->add_option("--junit", options->junit, "File for JUnit's XML, a test case per row")
          ->check(not_empty())
          ->type_name("FILE");
  add_solution_options(*command, *options, resume);
  add("--regime", options->regime, "steady, cold or warm; default: by profile")
      ->type_name("REGIME");
  add("--seed", request.seed, "Seed of the inputs and of the order of cases")
      ->transform(whole_in(0, kLargestCount, "a whole number from 0 to 2^53"));
  add("--fill", options->fill, "normal, uniform, zeros or integers")->type_name("FILL");
  chosen.push_back(command->add_flag("--no-early", options->no_early, kNoEarlyHelp));
  chosen.push_back(command->add_flag(
      "--fingerprint", request.fingerprint,
      "Only rows whose bits repeat, and the product of each multiprocessor, to compare devices"));
  add("--budget", request.budget_s, "Seconds for the whole run")
      ->transform(number_in(1e-3, 1e9, "a number of seconds from 0.001 to 1e9"));
  add("--ceilings", request.ceilings, "Results folder with ceilings to use")
      ->check(not_empty())
      ->type_name("DIR");
  add("--roof", request.roof, "Data sheet to draw next to the measured roofs")
      ->check(not_empty())
      ->type_name("SHEET");
  add_flags(*command, *options);
  CLI::Option* json = command->add_flag("--json", options->json,
                                        "Print strict JSON: the rows, or with --dry-run the plan");
  CLI::Option* turns =
      command->add_flag("--take-turns", options->take_turns,
                        "Stop every few samples until SIGCONT; `ridgebench gate` uses it");
  add_node_options(*command, options->node, node::kRunWork, {junit, turns, json});
  for (CLI::Option* option : chosen) option->excludes(resume);
  command->allow_extras()->footer(
      "Google Benchmark's flags --benchmark_*: filter, list_tests, out, out_format, format, color");
  command->callback([=, &code, &command_line] {
    if (!options->solution.empty()) run_solution(*options, command_line);
    code = run_command(*options, flags_of(command->remaining(), options->json), command_line);
  });
}

}  // namespace ridgebench
