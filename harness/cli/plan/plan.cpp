#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "harness/cli/commands.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/plan/questions.hpp"
#include "harness/cli/plan/text.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/results/measured_roofs.hpp"

namespace ridgebench {

std::unique_ptr<Roofs> PlanOptions::roofs() const {
  return device.empty() ? nullptr : std::make_unique<Roofs>(open_roofs(device));
}

void add_plan_device(CLI::App& app, PlanOptions& options) {
  app.add_option("--on", options.device,
                 "Device: a data sheet, a data sheet file or a results directory")
      ->check(not_empty())
      ->type_name("SHEET");
}

void add_plan_json(CLI::App& app, PlanOptions& options) {
  app.add_flag("--json", options.json, "Print strict JSON");
}

void add_plan_format(CLI::App& app, PlanOptions& options, const char* what) {
  app.add_option("--format", options.format, what)->capture_default_str()->type_name("FORMAT");
}

void print_plan(const PlanOptions& options, const PlanAnswer& answer) {
  if (options.json) {
    print_answer("plan", answer);
  } else {
    fmt::print("{}", plan_text(answer));
  }
}

void add_plan_command(CLI::App& app) {
  CLI::App& plan = *app.add_subcommand("plan", "Compute time, memory and cost of a training run");
  plan.require_subcommand(1);
  add_plan_train(plan);
  add_plan_memory(plan);
  add_plan_tensor(plan);
  add_plan_activations(plan);
  add_plan_zero(plan);
  add_plan_fits(plan);
  add_plan_parallel(plan);
  add_plan_check(plan);
  add_plan_mfu(plan);
  add_plan_transfer(plan);
  add_plan_einsum(plan);
}

}  // namespace ridgebench
