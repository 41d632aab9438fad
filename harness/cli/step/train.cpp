#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "harness/cli/number_option.hpp"
#include "harness/cli/step/step.hpp"
#include "kernels/common/number.hpp"

namespace ridgebench {
namespace {

struct TrainOptions {
  StepOptions step;
  TrainingStep sizes;
  std::string activation = "relu";
  std::string optimizer = "adamw";
  std::string zero_grad = "none";
};

StepPlan plan_of_train(const TrainOptions& options) {
  TrainingStep step = options.sizes;
  step.activation = parse<Activation>(options.activation);
  step.optimizer = parse<Optimizer>(options.optimizer);
  step.zero_grad = parse<ZeroGrad>(options.zero_grad);
  step.format = format_of(options.step);
  const std::string& checkpoint = options.step.request.plan.checkpoint;
  step.checkpoint = parse_checkpointing(checkpoint, step.layers);
  check(step);
  // One step has one id, however K is written.
  const bool every = checkpoint.starts_with("every:");
  return {step, every ? fmt::format("every:{}", step.checkpoint.layers) : checkpoint};
}

void add_train_sizes(CLI::App& command, TrainOptions& options) {
  TrainingStep& step = options.sizes;
  const auto size = whole_in(1, kLargestSize, "a whole number from 1 to 2^40");
  command.add_option("--layers", step.layers, "Layers of the network")
      ->required()
      ->transform(whole_in(1, 1e4, "a whole number from 1 to 10000"));
  command.add_option("--width", step.width, "Inputs and outputs of a layer")
      ->required()
      ->transform(size);
  command.add_option("--batch", step.batch, "Rows of the batch")->required()->transform(size);
  command.add_option("--activation", options.activation, "relu or gelu")->type_name("ACTIVATION");
  command.add_option("--optimizer", options.optimizer, "adamw, sgd, momentum or lion")
      ->type_name("OPTIMIZER");
  command
      .add_option("--format", options.step.format,
                  "Format of parameters, gradients and activations: fp32, bf16 or fp16")
      ->type_name("FORMAT");
  command.add_flag("--master", step.master,
                   "The optimizer updates an fp32 copy of the parameters, and rounds it to them");
  command
      .add_option("--checkpoint", options.step.request.plan.checkpoint,
                  "What stays for the backward pass: none (everything stays), sqrt or every:K "
                  "(the input of each segment of layers), layer (every:1) or full (the input of "
                  "the network)")
      ->type_name("WAY");
  command
      .add_option("--micro-batches", step.micro_batches,
                  "Parts of the batch, one after the other, as equal as rows allow; their "
                  "gradients are added")
      ->transform(size);
  command
      .add_option("--zero-grad", options.zero_grad,
                  "none: the first micro-batch writes the gradients; fill: the step sets them to "
                  "zero, and every micro-batch adds to them")
      ->type_name("HOW");
}

}  // namespace

void add_step_train_command(CLI::App& step, const std::vector<std::string>& command_line,
                            ExitCode& code) {
  CLI::App* command = step.add_subcommand(
      "train", "Measure a training step of equal layers: forward, backward, optimizer");
  const auto options = std::make_shared<TrainOptions>();
  options->step.format = "fp32";
  add_train_sizes(*command, *options);
  add_step_options(*command, options->step);
  command->callback([options, &code, &command_line] {
    options->step.request.plan = plan_of_train(*options);
    code = run_step(options->step, command_line);
  });
}

}  // namespace ridgebench
