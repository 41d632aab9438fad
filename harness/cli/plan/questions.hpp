// The questions of `ridgebench plan`, one function each, and what their options share.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "roofline/plan/plan.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

// The options of every question. CLI11 writes into them, so the callback owns them.
struct PlanOptions {
  std::string device;
  std::string format = "bf16";
  bool json = false;

  // Null without --on.
  [[nodiscard]] std::unique_ptr<Roofs> roofs() const;
};

void add_plan_device(CLI::App& app, PlanOptions& options);
void add_plan_json(CLI::App& app, PlanOptions& options);
void add_plan_format(CLI::App& app, PlanOptions& options, const char* what);

// The optimizer and the precision of a step on the device, here and in `predict model --training`.
CLI::Option* add_optimizer(CLI::App& app, StateQuestion& question);
CLI::Option* add_precision(CLI::App& app, StateQuestion& question);

// The options of a state in memory: also inference, the adapters of LoRA, and states on the host.
void add_state(CLI::App& app, StateQuestion& question);

// The options of a model's activations; `batch` is the help of --batch. resolve() opens the model,
// whose name CLI11 writes, when the command runs.
void add_activations_of_model(CLI::App& app, ActivationQuestion& question, std::string& model,
                              const char* batch);
void resolve(ActivationQuestion& question, const PlanOptions& options, const std::string& model);

// The link of a transfer, which open_link of harness/results/measured_links.hpp takes.
CLI::Option* add_link(CLI::App& app, std::string& link);

// The link between GPUs, of a results directory that of its copies from GPU to GPU; empty without
// a name.
std::optional<Link> link_between_gpus(const std::string& link);

// Prints an answer as text, or as JSON for --json.
void print_plan(const PlanOptions& options, const PlanAnswer& answer);

// Time and work: train, mfu, einsum, transfer.
void add_plan_train(CLI::App& plan);
void add_plan_mfu(CLI::App& plan);
void add_plan_einsum(CLI::App& plan);
void add_plan_transfer(CLI::App& plan);

// Memory: memory, tensor, activations, zero, fits, parallel; and check, which has both.
void add_plan_memory(CLI::App& plan);
void add_plan_tensor(CLI::App& plan);
void add_plan_activations(CLI::App& plan);
void add_plan_zero(CLI::App& plan);
void add_plan_fits(CLI::App& plan);
void add_plan_parallel(CLI::App& plan);
void add_plan_check(CLI::App& plan);

}  // namespace ridgebench
