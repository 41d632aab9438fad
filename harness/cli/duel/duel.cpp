#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "harness/base/printable.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/duel/table.hpp"
#include "harness/cli/machine_facts.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/options/case_options.hpp"
#include "harness/cli/options/shape_options.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/run_notes.hpp"
#include "harness/device/open_devices.hpp"
#include "harness/measure/campaign.hpp"
#include "harness/measure/duel/duel_campaign.hpp"
#include "harness/measure/duel/plan.hpp"
#include "harness/measure/duel/processes.hpp"
#include "harness/measure/sampler.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/results_directory.hpp"
#include "kernels/common/number.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

struct DuelOptions {
  DuelRequest request;
  ShapeOptions shapes;
  std::string device;
  std::string profile;
  std::string regime;
  std::string fill = "normal";
  std::string out;
  std::string read;
  std::uint64_t seed = 1;
  bool dry_run = false;
  bool json = false;
  bool no_early = false;
  bool one_process = false;  // measures one duel and prints its record as one line
};

using Devices = std::vector<std::unique_ptr<Device>>;

Regime regime_of(const std::string& text) {
  const auto regime = parse<Regime>(text);
  if (regime != Regime::warm) return regime;
  throw UsageError("--regime is 'warm'; allowed: steady, cold");
}

// A profile chooses all, and operations and formats narrow it; two techniques need everything.
DuelRequest request_of(const DuelOptions& options) {
  DuelRequest request = options.request;
  if (!options.regime.empty()) request.regime = regime_of(options.regime);
  constexpr const char* kAllowed =
      "allowed: TECHNIQUE TECHNIQUE --op OP --format F --shape S, or --profile quick [--op OP] "
      "[--format F]";
  if (!options.profile.empty()) {
    if (options.profile != name(Profile::quick)) {
      throw UsageError(fmt::format("--profile is '{}'; allowed: quick", options.profile));
    }
    if (!request.techniques.empty() || !options.shapes.empty()) {
      throw UsageError(fmt::format("--profile chooses techniques and shapes; {}", kAllowed));
    }
    return request;
  }
  const bool named = !request.names.operations.empty() && !request.names.formats.empty() &&
                     !options.shapes.empty();
  if (request.techniques.size() != 2 || !(named || options.shapes.names_operations())) {
    throw UsageError(
        std::string("a duel needs two techniques, an operation, a format and a shape; ") +
        kAllowed);
  }
  if (request.against_itself) {
    throw UsageError("--against-itself goes with --profile; allowed: the same technique twice");
  }
  request.names.shapes = options.shapes.lines(request.names.operations);
  return request;
}

void print(const std::vector<DuelRecord>& records, bool json) {
  if (!json) {
    print_duels(std::cout, records);
    std::cout.flush();
    return;
  }
  nlohmann::ordered_json duels = nlohmann::ordered_json::array();
  for (const DuelRecord& record : records) duels.push_back(to_json(record));
  print_answer("duels", {{"duels", duels}});
}

RunRequest environment_request(const DuelOptions& options, const DuelRequest& duels) {
  RunRequest request;
  request.names = duels.names;
  request.names.techniques = duels.techniques;
  request.device = options.device;
  if (duels.regime) request.regimes = {*duels.regime};
  request.seed = options.seed;
  request.fill = parse<Fill>(options.fill);
  request.early_launches = !options.no_early;
  request.budget_s = options.request.seconds;
  return request;
}

ExitCode run_duels(std::vector<DuelCase> duels, const DuelRequest& request,
                   const DuelOptions& options, const Devices& devices,
                   const std::vector<std::string>& command_line) {
  const Stopwatch clock;
  auto environment =
      make_environment(environment_request(options, request), read_machine(devices), command_line);
  ResultsDirectory directory(options.out.empty() ? create_default_folder().string() : options.out,
                             false, kDuelsFile);
  note_without_lock(directory);
  directory.write_environment(environment);
  DuelCampaign campaign(std::move(duels),
                        {.fill = parse<Fill>(options.fill),
                         .seed = options.seed,
                         .early_launches = !options.no_early,
                         .device = devices.size() == 1 ? options.device : ""},
                        directory);
  const std::string folder = printable(directory.given().string());
  try {
    campaign.measure_all();
  } catch (const Interrupted&) {
    print(campaign.records(), options.json);
    print_problem("interrupted; finished duels are in " + folder);
    return ExitCode::undecided;
  } catch (...) {
    print(campaign.records(), options.json);
    throw;
  }
  print(campaign.records(), options.json);
  end_environment(environment, read_machine(devices), clock.seconds());
  note_worn(environment);
  directory.write_environment(environment);
  directory.write_checksums();
  write_error(fmt::format("results: {}\n", folder));
  return exit_code(campaign.records());
}

// Measures the one duel of a process that another process started.
ExitCode run_one_process(const DuelCase& duel, const DuelOptions& options) {
  try {
    DuelMeasurer measurer(*duel.first.device, parse<Fill>(options.fill), options.seed);
    fmt::print("{}\n", json_line(to_json(measurer.measure(duel, signalled))));
  } catch (const Interrupted&) {
    return ExitCode::undecided;  // the other process says so
  }
  return ExitCode::fine;
}

ExitCode run_command(const DuelOptions& options, const std::vector<std::string>& command_line) {
  if (!options.read.empty()) {
    print(read_duels(options.read), options.json);
    return ExitCode::fine;
  }
  const DuelRequest request = request_of(options);
  static_cast<void>(parse<Fill>(options.fill));
  const Devices devices = open_devices(options.device);
  std::vector<DuelCase> duels = choose_duels(request, devices);
  if (duels.empty()) throw UsageError("no duel has this operation, format and shape");
  if (options.dry_run) {
    print_plan(std::cout, duels);
    const bool any = std::ranges::any_of(duels, [](const DuelCase& d) { return !d.unsupported(); });
    return any ? ExitCode::fine : ExitCode::row_failed;
  }
  static_cast<void>(draw_check_seed());  // a value that is not a seed must not leave a folder
  listen_for_signals();
  for (const auto& device : devices) device->queue().allow_early_launches(!options.no_early);
  if (options.one_process) return run_one_process(duels.front(), options);
  return run_duels(std::move(duels), request, options, devices, command_line);
}

}  // namespace

void add_duel_command(CLI::App& app, const std::vector<std::string>& command_line, ExitCode& code) {
  CLI::App* command = app.add_subcommand("duel", "Decide which of two techniques is faster");
  const auto options = std::make_shared<DuelOptions>();
  DuelRequest& request = options->request;
  CLI::Option* const techniques =
      command
          ->add_option(
              "techniques", request.techniques,
              "Two techniques, or one twice; TECHNIQUE@CHOICE makes the choice of a technique "
              "that has one: wgmma_pingpong@tile=128x192,cluster=2 or vec16@threads=256")
          ->expected(1, 2)
          ->type_name("TECHNIQUE");
  add_names(*command, "--op", request.names.operations, "Operations, for instance matmul",
            "OPERATION");
  add_names(*command, "--format", request.names.formats,
            "Formats of the inputs, for instance fp32,bf16", "FORMAT");
  options->shapes.add_to(*command);
  command->add_option("--profile", options->profile,
                      "quick: each operation's best technique against a library; --op and "
                      "--format narrow it");
  command
      ->add_option("--regime", options->regime,
                   "steady or cold: single launches behind emptied caches; default: steady, and a "
                   "profile has both")
      ->type_name("REGIME");
  command->add_flag("--against-itself", request.against_itself,
                    "With --profile: each best technique against itself, to see what this machine "
                    "calls different");
  command->add_option("--device", options->device, kDeviceHelp)->type_name("DEVICE");
  command
      ->add_option(
          "--seconds", request.seconds,
          "Seconds of each duel, without its checks; default: 27 for each process of a GPU, and "
          "fewer in the profile")
      ->transform(number_in(1e-3, 1e9, "a number of seconds from 0.001 to 1e9"));
  command
      ->add_option(
          "--processes", request.processes,
          "Processes that share the seconds of a duel; default: on a GPU 3 where each has 22 s, "
          "else 1; on a host 40, in the profile 20")
      ->transform(whole_in(1, kMostProcesses, "a whole number from 1 to 1000"));
  command->add_flag(kOneProcess, options->one_process)->group("");
  command->add_option("--seed", options->seed, "Seed of the inputs and of the order of the blocks")
      ->transform(whole_in(0, kLargestCount, "a whole number from 0 to 2^53"));
  command->add_option("--fill", options->fill, "normal, uniform, zeros or integers")
      ->type_name("FILL");
  command->add_option("--out", options->out, "Results folder; default: results/local/<time>")
      ->type_name("DIR");
  command
      ->add_option("--read", options->read,
                   "Print the duels of a folder, judged again by the rule of this version, and "
                   "measure nothing")
      ->type_name("DIR")
      ->excludes(techniques);
  command->add_flag("--no-early", options->no_early, kNoEarlyHelp);
  command->add_flag("--dry-run", options->dry_run, "Print the duels and their seconds");
  command->add_flag("--json", options->json, "Print strict JSON");
  command->footer(
      "A ratio is the first technique's time over the second's. same: its 95 % interval lies "
      "within half a percent. faster and slower: it does not, with a probability of error of 1e-4. "
      "docs/duels.md has the rule. Exit codes: 0 decided, 2 usage, 3 undecided or interrupted, 6 a "
      "technique is wrong or failed, or no duel could be timed, 7 no device.");
  command->callback([=, &code, &command_line] { code = run_command(*options, command_line); });
}

}  // namespace ridgebench
