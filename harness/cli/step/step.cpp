#include "harness/cli/step/step.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "harness/base/printable.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/doctor/conditions.hpp"
#include "harness/cli/machine_facts.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/run/earlier_ceilings.hpp"
#include "harness/cli/run_notes.hpp"
#include "harness/cli/step/text.hpp"
#include "harness/device/open_devices.hpp"
#include "harness/measure/campaign.hpp"
#include "harness/measure/watchdog.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/results_directory.hpp"
#include "harness/step/measure_step.hpp"
#include "kernels/common/number.hpp"

namespace ridgebench {
namespace {

// A step that takes longer hangs: its checks and ceilings, and a multiple of its samples.
constexpr double kHung_s = 600;
constexpr double kHungFactor = 10;

// OP=NAME, each operation once.
std::map<std::string, std::string> named_techniques(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> named;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const bool whole = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
    if (!whole || !named.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      throw UsageError(
          fmt::format("--technique '{}'; allowed: OPERATION=TECHNIQUE, each operation once", text));
    }
  }
  return named;
}

// A step of several devices would be another step.
std::unique_ptr<Device> open_device(const std::string& selection) {
  std::vector<std::unique_ptr<Device>> devices = open_devices(selection);
  if (devices.size() != 1) {
    throw UsageError(
        fmt::format("step runs on one device, and {} were found; allowed: --device "
                    "cuda:0, or another one",
                    devices.size()));
  }
  return std::move(devices.front());
}

void print(const StepRecord& record, double free_bytes, bool json) {
  if (json) {
    print_answer("step", to_json(record));
  } else {
    fmt::print("{}", step_text(record, free_bytes));
  }
}

}  // namespace

Format format_of(const StepOptions& options) {
  try {
    return parse_format(options.format);
  } catch (const UsageError&) {  // it would list the formats of all operations
    throw UsageError(fmt::format("--format {}; allowed: bf16, fp16, fp32", options.format));
  }
}

ExitCode run_step(const StepOptions& options, const std::vector<std::string>& command_line) {
  StepRequest request = options.request;
  request.techniques.named = named_techniques(options.techniques);
  const Stopwatch clock;
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(open_device(options.device));
  Device& device = *devices.front();
  const PlannedStep planned = plan_step(request, device);
  require_techniques(planned.program, request.techniques, device);
  const double free_bytes = device.free_bytes();
  RunRequest environment_request;
  environment_request.device = options.device;
  environment_request.seed = request.seed;
  environment_request.ceilings = options.ceilings;
  EarlierCeilings ceilings = read_ceilings(environment_request, devices, command_line);
  if (options.dry_run) {
    print(unmeasured_step(planned, free_bytes), free_bytes, options.json);
    return step_fits(planned.record, free_bytes) ? ExitCode::fine : ExitCode::row_failed;
  }
  static_cast<void>(draw_check_seed());  // a value that is not a seed must not leave a folder
  if (ceilings.unusable.empty()) {
    request.ceilings = std::move(ceilings.records);
  } else {
    write_error(fmt::format("note: {}; the step measures its own\n", printable(ceilings.unusable)));
    environment_request.ceilings.clear();
  }
  const MachineFacts before = read_machine(devices);
  const doctor::Findings conditions = doctor::conditions_of(environment_request.fill, before);
  auto environment = make_environment(environment_request, before, command_line);
  doctor::add_conditions(environment, conditions);
  listen_for_signals();
  ResultsDirectory directory(options.out.empty() ? create_default_folder().string() : options.out,
                             false, kStepFile);
  note_conditions(directory, conditions);
  directory.write_environment(environment);
  const std::string folder = printable(directory.given().string());
  StepRecord record;
  Watchdog watchdog([&] {
    StepRecord hung = planned.record;
    hung.status = Status::failed;
    hung.reason = "a launch did not return: hung";
    end_hung(directory, to_json(hung), "files");
  });
  watchdog.start(std::chrono::duration<double>(kHung_s + kHungFactor * request.seconds));
  try {
    record = measure_step(request, planned, device, signalled);
  } catch (const Interrupted&) {
    print_problem("interrupted before the step was measured; " + folder + " has no row");
    return ExitCode::undecided;
  }
  watchdog.stop();
  print(record, free_bytes, options.json);
  directory.append(to_json(record));
  end_environment(environment, read_machine(devices), clock.seconds());
  note_worn(environment);
  directory.write_environment(environment);
  directory.write_checksums();
  write_error(fmt::format("results: {}\n", folder));
  return record.status == Status::ok ? ExitCode::fine : ExitCode::row_failed;
}

void add_step_options(CLI::App& command, StepOptions& options) {
  command
      .add_option("--technique", options.techniques,
                  "Technique of an operation, for instance matmul=naive; may be given several "
                  "times; default: the fastest by a few launches")
      ->allow_extra_args(false)
      ->type_name("OPERATION=TECHNIQUE");
  command.add_flag("--library", options.request.techniques.library,
                   "Take a library's technique where one serves the operation");
  command.add_option("--device", options.device, kDeviceHelp)
      ->check(not_empty())
      ->type_name("DEVICE");
  command
      .add_option("--seconds", options.request.seconds,
                  "Seconds of samples of the step; its parts share as many")
      ->transform(number_in(1e-3, 1e6, "a number of seconds from 0.001 to 1e6"));
  command.add_option("--seed", options.request.seed, "Seed of the values")
      ->transform(whole_in(0, kLargestCount, "a whole number from 0 to 2^53"));
  command
      .add_option("--ceilings", options.ceilings,
                  "Results folder of a run with ceilings to use; default: the step measures them")
      ->check(not_empty())
      ->type_name("DIR");
  command.add_option("--out", options.out, "Results folder; default: results/local/<time>")
      ->check(not_empty())
      ->type_name("DIR");
  command.add_flag("--dry-run", options.dry_run,
                   "Print the memory and the FLOPs of the step, and measure nothing");
  command.add_flag("--json", options.json, "Print strict JSON");
  command.footer(kStepFooter);
}

void add_step_command(CLI::App& app, const std::vector<std::string>& command_line, ExitCode& code) {
  CLI::App* command = app.add_subcommand("step", "Measure a whole step of training or decoding");
  command->require_subcommand(1);
  add_step_train_command(*command, command_line, code);
  add_step_decode_command(*command, command_line, code);
}

}  // namespace ridgebench
