#include <CLI/CLI.hpp>
#include <memory>

#include "harness/cli/model_warnings.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/step/step.hpp"
#include "kernels/common/number.hpp"

namespace ridgebench {
namespace {

struct DecodeOptions {
  StepOptions step;
  std::string model;
  DecodeStep sizes;
};

StepPlan plan_of_decode(const DecodeOptions& options) {
  const Transformer model = open_transformer(options.model);
  DecodeStep step = decode_step(model);
  step.layers = options.sizes.layers;
  step.batch = options.sizes.batch;
  step.context = options.sizes.context;
  step.format = format_of(options.step);
  check(step);  // messages name the model as the user does
  step.model = recorded_name(model);
  print_model_warnings(model);
  return {step};
}

}  // namespace

void add_step_decode_command(CLI::App& step, const std::vector<std::string>& command_line,
                             ExitCode& code) {
  CLI::App* command = step.add_subcommand(
      "decode", "Measure layers of a transformer that write one token for each sequence");
  const auto options = std::make_shared<DecodeOptions>();
  options->step.format = "bf16";
  const auto size = whole_in(1, kLargestSize, "a whole number from 1 to 2^40");
  command
      ->add_option("--model", options->model,
                   "A Hugging Face config.json, or a name that `predict model --help` lists")
      ->required()
      ->type_name("CONFIG");
  command->add_option("--batch", options->sizes.batch, "Sequences that are decoded together")
      ->required()
      ->transform(size);
  command->add_option("--context", options->sizes.context, "Tokens of each sequence in the cache")
      ->required()
      ->transform(size);
  command
      ->add_option("--layers", options->sizes.layers, "Layers of the model to measure; default 1")
      ->transform(whole_in(1, 1e4, "a whole number from 1 to 10000"));
  command
      ->add_option("--format", options->step.format,
                   "Format of weights, cache and activations: bf16, fp16 or fp32; default bf16")
      ->type_name("FORMAT");
  add_step_options(*command, options->step);
  command->callback([options, &code, &command_line] {
    options->step.request.plan = plan_of_decode(*options);
    code = run_step(options->step, command_line);
  });
}

}  // namespace ridgebench
