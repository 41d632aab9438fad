#include "harness/measure/soak/soak.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "harness/base/printable.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/machine_facts.hpp"
#include "harness/cli/node/options.hpp"
#include "harness/cli/node/soak_node.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/options/case_options.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/run/progress.hpp"
#include "harness/cli/run_notes.hpp"
#include "harness/cli/soak/table.hpp"
#include "harness/device/open_devices.hpp"
#include "harness/measure/signals.hpp"
#include "harness/measure/turns.hpp"
#include "harness/measure/watchdog.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/outcome.hpp"
#include "harness/results/results_directory.hpp"
#include "kernels/common/number.hpp"

namespace ridgebench {
namespace {

// A host runs other programs beside the soak.
constexpr double kGpuMemoryShare = 0.9;
constexpr double kHostMemoryShare = 0.25;
constexpr double kLargestMemoryShare = 0.95;
// A GPU slows down by less while it heats up.
constexpr double kGpuSlowShare = 0.1;
// Seconds after which a launch hangs: the first one may tune itself.
constexpr double kHung_s = 300;

struct SoakOptions {
  CaseOptions cases;
  double minutes = 30;
  std::string memory;
  std::string slow;
  std::string device;
  std::string fill = "normal";
  std::string out;
  std::string read;
  std::uint64_t seed = 1;
  bool stop_on_fault = false;
  bool dry_run = false;
  bool json = false;
  NodeOptions node;
};

ExitCode print(const SoakReport& report, bool json) {
  if (json) {
    print_answer("soak", report.to_json());
  } else {
    fmt::print("{}", soak_text(report));
  }
  return report.exit_code();
}

SoakSettings settings_of(const SoakOptions& options, const Device& device) {
  const bool host = device.backend() == Backend::cpu;
  SoakSettings settings{.seconds = 60 * options.minutes,
                        .memory_share = host ? kHostMemoryShare : kGpuMemoryShare,
                        .slow_share = host ? std::nullopt : std::optional(kGpuSlowShare),
                        .fill = parse<Fill>(options.fill),
                        .seed = options.seed,
                        .stop_on_fault = options.stop_on_fault};
  if (!options.memory.empty()) {
    settings.memory_share = fraction_of("--memory", options.memory);
    if (settings.memory_share <= 0 || settings.memory_share > kLargestMemoryShare) {
      throw UsageError(fmt::format("--memory is {}; allowed: above 0, up to 95%", options.memory));
    }
  }
  if (!options.slow.empty()) {
    settings.slow_share = fraction_of("--slow", options.slow);
    if (*settings.slow_share < 0) {
      throw UsageError(fmt::format("--slow is {}; allowed: 0 or more, such as 10%", options.slow));
    }
  }
  return settings;
}

// One device: a soak of several has a process for each.
std::unique_ptr<Device> open_soaked(const std::string& selection) {
  std::vector<std::unique_ptr<Device>> devices = open_devices(selection);
  if (devices.size() == 1) return std::move(devices.front());
  throw UsageError(
      fmt::format("a soak takes one device, and here are {}; allowed: --device {}, or "
                  "--concurrent for every GPU",
                  devices.size(), devices.front()->name()));
}

void print_cases(const std::vector<Case>& cases, const Device& device,
                 const SoakSettings& settings) {
  for (const Case& c : cases) fmt::print("{}\n", c.id());
  fmt::print("memory patterns over up to {}\n",
             with_unit(settings.memory_share * device.free_bytes(), "B"));
}

// Runs the soak; each event goes to the folder before the report counts it.
void soak(Device& device, const std::vector<Case>& cases, const SoakSettings& settings,
          ResultsDirectory& directory, SoakReport& report) {
  Progress progress(0);
  const auto log = [&](const nlohmann::ordered_json& event) {
    directory.append(event);
    report.add(nlohmann::json(event), "soak");
    progress.show(soak_verdict(report));
  };
  Watchdog watchdog([&] {
    end_hung(directory,
             {{"event", "left_out"}, {"id", "a launch"}, {"reason", kHungReason}, {"wrong", true}},
             "events");
  });
  watchdog.start(std::chrono::duration<double>(kHung_s));
  Soak soak(device, settings, log, signalled, [](double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  });
  soak.run(cases);
  watchdog.stop();
}

ExitCode read_log(const SoakOptions& options) {
  if (holds_node(options.read)) return read_soak_node(options.read, options.json);
  return print(read_soak(options.read), options.json);
}

ExitCode run_soak(const SoakOptions& options, const std::vector<std::string>& command_line) {
  if (!options.read.empty()) return read_log(options);
  if (options.node.concurrent) {
    return soak_node({.device = options.device,
                      .out = options.out,
                      .budget_s = {},
                      .limit_s = options.node.hang_limit_s,
                      .dry_run = options.dry_run},
                     options.json, command_line);
  }
  const Stopwatch clock;
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(open_soaked(options.device));
  Device& device = *devices.front();
  const SoakSettings settings = settings_of(options, device);
  RunRequest request;
  request.device = options.device;
  request.names = options.cases.names();
  request.seed = settings.seed;
  request.fill = settings.fill;
  const std::vector<Case> cases = soak_cases(Registry::instance(), device, request.names);
  if (cases.empty()) {
    throw UsageError(
        "no kernel of these names repeats its bits on this device; allowed: hand-written kernels "
        "that `ridgebench list` calls supported, not naive, not in place");
  }
  if (options.dry_run) {
    print_cases(cases, device, settings);
    return ExitCode::fine;
  }
  static_cast<void>(draw_check_seed());  // a value that is not a seed must not leave a folder
  auto environment = make_environment(request, read_machine(devices), command_line);
  listen_for_signals();
  ResultsDirectory directory(options.out.empty() ? create_default_folder().string() : options.out,
                             false, kSoakFile);
  note_without_lock(directory);
  directory.write_environment(environment);
  static_cast<void>(wait_for_start(options.node.together));
  SoakReport report;
  try {
    soak(device, cases, settings, directory, report);
  } catch (...) {
    static_cast<void>(print(report, options.json));
    throw;
  }
  if (report.finished()) {
    end_environment(environment, read_machine(devices), clock.seconds());
    directory.write_environment(environment);
  }
  directory.write_checksums();
  const ExitCode code = print(report, options.json);
  write_error(fmt::format("results: {}\n", printable(directory.given().string())));
  if (!report.finished()) print_problem("interrupted; the log has every mismatch so far");
  return code;
}

}  // namespace

void add_soak_command(CLI::App& app, const std::vector<std::string>& command_line, ExitCode& code) {
  CLI::App* command =
      app.add_subcommand("soak", "Burn a device in, and compare every result bit for bit");
  const auto options = std::make_shared<SoakOptions>();
  command->add_option("--minutes", options->minutes, "Minutes after the kernels are verified")
      ->transform(number_in(1e-3, 1e5, "a number of minutes from 0.001 to 1e5"));
  command->add_option("--device", options->device, kDeviceHelp)
      ->check(not_empty())
      ->type_name("DEVICE");
  options->cases.add_to(*command);
  command
      ->add_option("--memory", options->memory,
                   "Share of the free memory under test; default: 90% of a GPU's, 25% of a host's")
      ->check(not_empty())
      ->type_name("SHARE");
  command
      ->add_option("--slow", options->slow,
                   "Share by which the last round of a kernel may be slower than its fastest one; "
                   "default: 10% on a GPU, any on a host")
      ->check(not_empty())
      ->type_name("SHARE");
  command->add_flag("--stop-on-fault", options->stop_on_fault,
                    "End at once if a counter of faults of the device grows");
  command->add_option("--seed", options->seed, "Seed of the inputs and of the patterns")
      ->transform(whole_in(0, kLargestCount, "a whole number from 0 to 2^53"));
  command->add_option("--fill", options->fill, "normal, uniform, zeros or integers")
      ->type_name("FILL");
  command->add_option("--out", options->out, "Results folder; default: results/local/<time>")
      ->check(not_empty())
      ->type_name("DIR");
  CLI::Option* read =
      command
          ->add_option("--read", options->read,
                       "Print what the log of a folder adds up to, and launch nothing")
          ->check(not_empty())
          ->type_name("DIR");
  add_node_options(*command, options->node, node::kSoakWork, {read});
  command->add_flag("--dry-run", options->dry_run, "Print the kernels, and launch nothing");
  command->add_flag("--json", options->json, "Print strict JSON");
  command->footer(
      "soak.jsonl has each mismatch with address, flipped bits, SM, clock, temperature and power. "
      "Exit codes: 0 no wrong bit, 3 interrupted, 4 slow, 6 wrong bits or a fault of the device, "
      "7 no device.");
  command->callback([=, &code, &command_line] { code = run_soak(*options, command_line); });
}

}  // namespace ridgebench
