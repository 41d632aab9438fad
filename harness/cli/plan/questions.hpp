// The questions of `ridgebench plan`, one function each, and what their options share.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
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

// The optimizer and the precision of a training state, here and in `predict model --training`.
CLI::Option* add_optimizer(CLI::App& app, StateQuestion& question);
CLI::Option* add_precision(CLI::App& app, StateQuestion& question);

// Prints an answer as text, or as JSON for --json.
void print_plan(const PlanOptions& options, const PlanAnswer& answer);

// Time and work: train, mfu, einsum, transfer.
void add_plan_train(CLI::App& plan);
void add_plan_mfu(CLI::App& plan);
void add_plan_einsum(CLI::App& plan);
void add_plan_transfer(CLI::App& plan);

// Memory: memory, tensor, activations, zero, fits.
void add_plan_memory(CLI::App& plan);
void add_plan_tensor(CLI::App& plan);
void add_plan_activations(CLI::App& plan);
void add_plan_zero(CLI::App& plan);
void add_plan_fits(CLI::App& plan);

}  // namespace ridgebench
