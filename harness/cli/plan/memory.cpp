#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "harness/cli/model_warnings.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/plan/questions.hpp"
#include "roofline/transformer/transformer.hpp"

namespace ridgebench {

CLI::Option* add_optimizer(CLI::App& app, StateQuestion& question) {
  return app
      .add_option("--optimizer", question.optimizer,
                  "sgd, momentum, adagrad, rmsprop, adam, adamw, lion or adafactor")
      ->capture_default_str();
}

CLI::Option* add_precision(CLI::App& app, StateQuestion& question) {
  return app
      .add_option("--precision", question.precision,
                  "Parameters and gradients: bf16, fp32, bf16-master (fp32 master copy) or "
                  "fp32-bf16 (fp32 parameters, bf16 gradients)")
      ->capture_default_str();
}

void add_state(CLI::App& app, StateQuestion& question) {
  CLI::Option* const optimizer = add_optimizer(app, question);
  optimizer->description(fmt::format("none (inference), {}", optimizer->get_description()));
  add_precision(app, question)
      ->description(
          "Parameters and gradients: bf16, fp32, bf16-master (fp32 master copy), fp32-bf16 (fp32 "
          "parameters, bf16 gradients), bf16-lora (frozen parameters beside --adapters) or "
          "bf16-offload (all but the parameters on the host); with --optimizer none also fp16, "
          "fp8, int8, mxfp8, nvfp4, mxfp4 and int4");
  app.add_option_function<std::string>(
         "--adapters",
         [&question](const std::string& text) {
           question.adapters = fraction_of("--adapters", text);
         },
         "Trained share of the parameters' number with --precision bf16-lora: 0.5%")
      ->type_name("SHARE");
}

void add_activations_of_model(CLI::App& app, ActivationQuestion& question, std::string& model,
                              const char* batch) {
  app.add_option("--model", model,
                 "Layers of a transformer: a Hugging Face config.json, or a name that "
                 "`predict model --help` lists")
      ->check(not_empty())
      ->type_name("CONFIG");
  add_number(app, "--context", question.context, "Tokens in a row of a --model's batch (4096)");
  add_number(app, "--batch", question.batch, batch)->required();
  add_number(app, "--micro-batches", question.micro_batches,
             "Parts of the batch, one in memory at a time (1)");
  app.add_option("--checkpoint", question.checkpoint,
                 "none (keep all layers), layer (keep each layer's output, compute one layer "
                 "again), sqrt (keep every sqrt(layers)-th output), every:K (keep every K-th "
                 "output) or full (keep the input only)")
      ->capture_default_str();
  app.add_flag("--scores", question.scores, "A --model's attention is not fused: keep its scores");
}

void resolve(ActivationQuestion& question, const PlanOptions& options, const std::string& model) {
  question.format = parse_format(options.format);
  if (model.empty()) return;
  question.model = open_transformer(model);
  print_model_warnings(*question.model);
}

namespace {

void add_state_options(CLI::App& app, StateQuestion& question, const char* parameters) {
  add_number(app, "--parameters,--params", question.parameters, parameters);
  add_state(app, question);
}

constexpr const char* kLargestModel =
    "Parameters of the model: 70B; default: the largest model that fits";

// Plain layers, or a model.
void add_activation_options(CLI::App& app, ActivationQuestion& question, std::string& model) {
  add_number(app, "--layers", question.layers, "Number of layers, instead of a --model");
  add_number(app, "--width", question.width, "Outputs of a layer per row");
  app.add_flag("--pre-activations", question.pre_activations,
               "Also keep the values before each nonlinearity, as GELU needs them");
  add_activations_of_model(app, question, model,
                           "Rows of one device: samples or tokens; of a --model: sequences");
}

}  // namespace

void add_plan_memory(CLI::App& plan) {
  struct State : PlanOptions {
    StateQuestion question;
    std::optional<double> gpus;
  };
  const auto state = std::make_shared<State>();
  CLI::App& app = *plan.add_subcommand("memory", "Compute the bytes of a model or the largest");
  add_state_options(app, state->question, kLargestModel);
  add_number(app, "--gpus", state->gpus, "Number of devices (1)");
  add_plan_device(app, *state);
  add_plan_json(app, *state);
  app.callback([state] {
    const auto roofs = state->roofs();
    print_plan(*state, plan_memory(state->question, state->gpus, roofs.get()));
  });
}

void add_plan_zero(CLI::App& plan) {
  struct State : PlanOptions {
    StateQuestion question;
    std::optional<double> stage;
    double ranks = 0;
    std::string link;
  };
  const auto state = std::make_shared<State>();
  CLI::App& app =
      *plan.add_subcommand("zero", "Compute bytes and communication per rank under ZeRO");
  add_state_options(app, state->question, kLargestModel);
  add_number(app, "--stage", state->stage,
             "0: nothing is sharded, 1: optimizer states, 2: and gradients, 3: and parameters; "
             "default: a table of all");
  add_number(app, "--ranks", state->ranks, "Number of ranks that share the state")->required();
  add_link(app, state->link)->check(not_empty());
  add_plan_device(app, *state);
  add_plan_json(app, *state);
  app.callback([state] {
    const auto roofs = state->roofs();
    print_plan(*state, plan_zero(state->question, state->stage, state->ranks, roofs.get(),
                                 link_between_gpus(state->link)));
  });
}

void add_plan_tensor(CLI::App& plan) {
  struct State : PlanOptions {
    std::string shape;
  };
  const auto state = std::make_shared<State>();
  CLI::App& app = *plan.add_subcommand("tensor", "Compute the bytes of a tensor");
  app.add_option("--shape", state->shape, "Sizes joined by x: 49152x12288")->required();
  add_plan_format(app, *state,
                  "Format of the elements; nvfp4 (fp4) has a scale for 16 values, mxfp4 and mxfp8 "
                  "for 32, int4 for 128");
  add_plan_device(app, *state);
  add_plan_json(app, *state);
  app.callback([state] {
    const auto roofs = state->roofs();
    print_plan(*state, plan_tensor(state->shape, state->format, roofs.get()));
  });
}

void add_plan_activations(CLI::App& plan) {
  struct State : PlanOptions {
    ActivationQuestion question;
    std::string model;
  };
  const auto state = std::make_shared<State>();
  CLI::App& app = *plan.add_subcommand("activations", "Compute the bytes of activations");
  add_activation_options(app, state->question, state->model);
  add_plan_format(app, *state, "Format of the activations");
  add_plan_device(app, *state);
  add_plan_json(app, *state);
  app.callback([state] {
    resolve(state->question, *state, state->model);
    const auto roofs = state->roofs();
    print_plan(*state, plan_activations(state->question, roofs.get()));
  });
}

void add_plan_fits(CLI::App& plan) {
  struct State : PlanOptions {
    FitsQuestion question;
    std::string model;
    std::string link;
  };
  const auto state = std::make_shared<State>();
  CLI::App& app = *plan.add_subcommand(
      "fits", "Compute what one device holds in training, and whether it fits");
  add_state_options(app, state->question.state, "Parameters: 70B; default: those of --model");
  add_number(app, "--stage", state->question.stage, "Stage of ZeRO, 0 to 3 (0)");
  add_number(app, "--ranks,--gpus", state->question.ranks, "Devices that share the state (1)");
  add_link(app, state->link)->check(not_empty());
  add_activation_options(app, state->question.activations, state->model);
  app.add_flag("--timeline", state->question.timeline,
               "Also what lives in each phase of a step of plain layers");
  add_plan_format(app, *state, "Format of the activations");
  add_plan_device(app, *state);
  add_plan_json(app, *state);
  app.get_option("--on")->required();
  app.callback([state] {
    resolve(state->question.activations, *state, state->model);
    state->question.link = link_between_gpus(state->link);
    print_plan(*state, plan_fits(state->question, *state->roofs()));
  });
}

}  // namespace ridgebench
