#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "harness/base/printable.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/machine_facts.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/print_json.hpp"
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

struct StepOptions {
  StepRequest request;
  std::string activation = "relu";
  std::string optimizer = "adamw";
  std::string format = "fp32";
  std::string zero_grad = "none";
  std::vector<std::string> techniques;
  std::string device;
  std::string out;
  bool dry_run = false;
  bool json = false;
};

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

StepRequest request_of(const StepOptions& options) {
  StepRequest request = options.request;
  TrainingStep& step = request.step;
  step.activation = parse<Activation>(options.activation);
  step.optimizer = parse<Optimizer>(options.optimizer);
  step.zero_grad = parse<ZeroGrad>(options.zero_grad);
  step.format = parse_format(options.format);
  step.checkpoint = parse_checkpointing(request.checkpoint, step.layers);
  request.techniques.named = named_techniques(options.techniques);
  check(step);
  return request;
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

ExitCode run_step(const StepRequest& request, const StepOptions& options,
                  const std::vector<std::string>& command_line) {
  const Stopwatch clock;
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(open_device(options.device));
  Device& device = *devices.front();
  const StepRecord planned = describe_step(request, device);
  require_techniques(training_program(request.step), request.techniques, device);
  const double free_bytes = device.free_bytes();
  if (options.dry_run) {
    print(planned, free_bytes, options.json);
    return ExitCode::fine;
  }
  static_cast<void>(draw_check_seed());  // a value that is no seed must not leave a folder
  RunRequest environment_request;
  environment_request.device = options.device;
  environment_request.seed = request.seed;
  auto environment = make_environment(environment_request, read_machine(devices), command_line);
  ResultsDirectory directory(options.out.empty() ? create_default_folder().string() : options.out,
                             false, kStepFile);
  note_without_lock(directory);
  directory.write_environment(environment);
  listen_for_signals();
  const std::string folder = printable(directory.given().string());
  StepRecord record;
  Watchdog watchdog([&] {
    StepRecord hung = planned;
    hung.status = Status::failed;
    hung.reason = "a launch did not return: hung";
    end_hung(directory, to_json(hung), "files");
  });
  watchdog.start(std::chrono::duration<double>(kHung_s + kHungFactor * request.seconds));
  try {
    record = measure_step(request, device, signalled);
  } catch (const Interrupted&) {
    print_problem("interrupted before the step was measured; " + folder + " has no row");
    return ExitCode::undecided;
  }
  watchdog.stop();
  directory.append(to_json(record));
  print(record, free_bytes, options.json);
  end_environment(environment, read_machine(devices), clock.seconds());
  directory.write_environment(environment);
  directory.write_checksums();
  write_error(fmt::format("results: {}\n", folder));
  return record.status == Status::ok ? ExitCode::fine : ExitCode::row_failed;
}

void add_train_command(CLI::App& parent, const std::vector<std::string>& command_line,
                       ExitCode& code) {
  CLI::App* command = parent.add_subcommand(
      "train", "Measure a training step of equal layers: forward, backward, optimizer");
  const auto options = std::make_shared<StepOptions>();
  TrainingStep& step = options->request.step;
  constexpr const char* kWhole = "a whole number from 1 to 2^40";
  const auto size = number_in(1, kLargestSize, kWhole);
  command->add_option("--layers", step.layers, "Layers of the network")
      ->required()
      ->transform(number_in(1, 1e4, "a whole number from 1 to 10000"));
  command->add_option("--width", step.width, "Inputs and outputs of a layer")
      ->required()
      ->transform(size);
  command->add_option("--batch", step.batch, "Rows of the batch")->required()->transform(size);
  command->add_option("--activation", options->activation, "relu or gelu")->type_name("ACTIVATION");
  command->add_option("--optimizer", options->optimizer, "adamw, sgd, momentum or lion")
      ->type_name("OPTIMIZER");
  command
      ->add_option("--format", options->format,
                   "Format of parameters, gradients and activations: fp32, bf16 or fp16")
      ->type_name("FORMAT");
  command->add_flag("--master", step.master,
                    "The optimizer updates an fp32 copy of the parameters, and rounds it to them");
  command
      ->add_option("--checkpoint", options->request.checkpoint,
                   "What stays for the backward pass: none (everything stays), sqrt or every:K "
                   "(the input of each segment of layers), layer (every:1) or full (the input of "
                   "the network)")
      ->type_name("WAY");
  command
      ->add_option("--micro-batches", step.micro_batches,
                   "Equal parts of the batch, one after the other; their gradients are added")
      ->transform(size);
  command
      ->add_option("--zero-grad", options->zero_grad,
                   "none: the first micro-batch writes the gradients; fill: the step sets them to "
                   "zero, and every micro-batch adds to them")
      ->type_name("HOW");
  command
      ->add_option("--technique", options->techniques,
                   "Technique of an operation, for instance matmul=naive; may be given several "
                   "times; default: the fastest by a few launches")
      ->allow_extra_args(false)
      ->type_name("OPERATION=TECHNIQUE");
  command->add_flag("--library", options->request.techniques.library,
                    "Take a library's technique where one serves the operation");
  command->add_option("--device", options->device, kDeviceHelp)->type_name("DEVICE");
  command
      ->add_option("--seconds", options->request.seconds,
                   "Seconds of samples of the step; its parts share as many")
      ->transform(number_in(1e-3, 1e6, "a number of seconds from 0.001 to 1e6"));
  command->add_option("--seed", options->request.seed, "Seed of the values")
      ->transform(number_in(0, kLargestCount, "a whole number from 0 to 2^53"));
  command->add_option("--out", options->out, "Results folder; default: results/local/<time>")
      ->type_name("DIR");
  command->add_flag("--dry-run", options->dry_run,
                    "Print the memory and the FLOPs of the step, and measure nothing");
  command->add_flag("--json", options->json, "Print strict JSON");
  command->footer(
      "Every launch is verified on the inputs that it meets, before the timing. The step is timed "
      "as one chain of launches, and each part of it by itself. Exit codes: 0 measured, 2 usage, 3 "
      "interrupted, 6 a launch is wrong or failed, or the memory is too small, 7 no device.");
  command->callback(
      [=, &code, &command_line] { code = run_step(request_of(*options), *options, command_line); });
}

}  // namespace

void add_step_command(CLI::App& app, const std::vector<std::string>& command_line, ExitCode& code) {
  CLI::App* command =
      app.add_subcommand("step", "Measure a whole training step, its parts and its memory");
  command->require_subcommand(1);
  add_train_command(*command, command_line, code);
}

}  // namespace ridgebench
