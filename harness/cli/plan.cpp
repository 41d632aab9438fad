#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "harness/cli/commands.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/plan_text.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/results/measured_roofs.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"

namespace ridgebench {
namespace {

// The options of every question. CLI11 writes into them, so the callback owns them.
struct Common {
  std::string device;
  std::string format = "bf16";
  bool json = false;

  // Null without --on.
  [[nodiscard]] std::unique_ptr<Roofs> roofs() const {
    return device.empty() ? nullptr : std::make_unique<Roofs>(open_roofs(device));
  }
};

void print(const Common& common, const PlanAnswer& answer) {
  if (common.json) {
    print_json(answer);
  } else {
    fmt::print("{}", plan_text(answer));
  }
}

void add_device(CLI::App& app, Common& common) {
  app.add_option("--on", common.device,
                 "Device: a data sheet, a data sheet file or a results directory");
}

void add_json(CLI::App& app, Common& common) {
  app.add_flag("--json", common.json, "Print strict JSON");
}

void add_format(CLI::App& app, Common& common, const char* what) {
  app.add_option("--format", common.format, what)->capture_default_str();
}

// Reads the MFU from a number or from a results directory that measured it.
void resolve_mfu(TrainQuestion& question, const std::string& text) {
  if (text.empty()) return;
  if (const auto fraction = parse_fraction(text)) {
    question.mfu = *fraction;
    return;
  }
  std::error_code ignored;  // a path without access counts as no folder
  if (!std::filesystem::is_directory(text, ignored)) {
    throw UsageError(fmt::format(
        "--mfu is '{}'; allowed: a number from 0 to 1 such as 0.4 or 40%, or a results directory",
        text));
  }
  const MeasuredMfu measured = best_matmul_mfu(text, question.format);
  question.mfu = measured.mfu;
  question.mfu_row = measured.id;
  question.mfu_sheet = measured.data_sheet;
}

void add_train(CLI::App& plan) {
  struct State : Common {
    TrainQuestion question;
    std::string mfu;
  };
  const auto state = std::make_shared<State>();
  TrainQuestion& question = state->question;
  CLI::App& app = *plan.add_subcommand("train", "Compute FLOPs and days of a training run");
  add_number(app, "--parameters,--params", question.parameters, "Parameters of the model: 70B");
  add_number(app, "--tokens", question.tokens, "Tokens of the training data: 15T");
  add_number(app, "--flops", question.flops, "FLOPs of the run, instead of parameters and tokens");
  add_number(app, "--days", question.days, "Days of the run: compute the FLOPs that fit");
  add_number(app, "--gpus", question.gpus, "Number of devices (1)");
  app.add_option("--mfu,--mfu-from", state->mfu,
                 "Model FLOPs utilisation: 0.4, 40%, or a results directory with a matmul of the "
                 "same device");
  add_format(app, *state, "Format of the matmuls, which selects the peak");
  add_device(app, *state);
  add_json(app, *state);
  app.callback([state] {
    state->question.format = parse_format_pair(state->format);
    resolve_mfu(state->question, state->mfu);
    const auto roofs = state->roofs();
    print(*state, plan_train(state->question, roofs.get()));
  });
}

void add_state_options(CLI::App& app, StateQuestion& question) {
  add_number(app, "--parameters,--params", question.parameters,
             "Parameters of the model: 70B; default: the largest model that fits");
  app.add_option("--optimizer", question.optimizer,
                 "none (inference), sgd, momentum, adagrad, rmsprop, adam or adamw")
      ->capture_default_str();
  app.add_option("--precision", question.precision,
                 "Parameters and gradients: bf16, fp32 or bf16-master (fp32 master copy)")
      ->capture_default_str();
}

void add_memory(CLI::App& plan) {
  struct State : Common {
    StateQuestion question;
    std::optional<double> gpus;
  };
  const auto state = std::make_shared<State>();
  CLI::App& app = *plan.add_subcommand("memory", "Compute the bytes of a model or the largest");
  add_state_options(app, state->question);
  add_number(app, "--gpus", state->gpus, "Number of devices (1)");
  add_device(app, *state);
  add_json(app, *state);
  app.callback([state] {
    const auto roofs = state->roofs();
    print(*state, plan_memory(state->question, state->gpus, roofs.get()));
  });
}

void add_zero(CLI::App& plan) {
  struct State : Common {
    StateQuestion question;
    double stage = 0;
    double ranks = 0;
  };
  const auto state = std::make_shared<State>();
  CLI::App& app = *plan.add_subcommand("zero", "Compute the bytes per rank under ZeRO");
  add_state_options(app, state->question);
  add_number(app, "--stage", state->stage,
             "1: optimizer states, 2: and gradients, 3: and parameters")
      ->required();
  add_number(app, "--ranks", state->ranks, "Number of ranks that share the state")->required();
  add_device(app, *state);
  add_json(app, *state);
  app.callback([state] {
    const auto roofs = state->roofs();
    print(*state, plan_zero(state->question, state->stage, state->ranks, roofs.get()));
  });
}

void add_tensor(CLI::App& plan) {
  struct State : Common {
    std::string shape;
  };
  const auto state = std::make_shared<State>();
  CLI::App& app = *plan.add_subcommand("tensor", "Compute the bytes of a tensor");
  app.add_option("--shape", state->shape, "Sizes joined by x: 49152x12288")->required();
  add_format(app, *state, "Format of the elements; fp4 has a scale for 16 values");
  add_device(app, *state);
  add_json(app, *state);
  app.callback([state] {
    const auto roofs = state->roofs();
    print(*state, plan_tensor(state->shape, state->format, roofs.get()));
  });
}

void add_activations(CLI::App& plan) {
  struct State : Common {
    ActivationQuestion question;
  };
  const auto state = std::make_shared<State>();
  ActivationQuestion& question = state->question;
  CLI::App& app = *plan.add_subcommand("activations", "Compute the bytes of activations");
  add_number(app, "--layers", question.layers, "Number of layers")->required();
  add_number(app, "--width", question.width, "Outputs of a layer per row")->required();
  add_number(app, "--batch", question.batch, "Rows: samples, or tokens")->required();
  add_number(app, "--micro-batches", question.micro_batches, "Number of parts of the batch (1)");
  app.add_option("--checkpoint", question.checkpoint, "none (keep all layers) or sqrt")
      ->capture_default_str();
  app.add_flag("--pre-activations", question.pre_activations,
               "Also keep the values before each nonlinearity");
  add_format(app, *state, "Format of the activations");
  add_device(app, *state);
  add_json(app, *state);
  app.callback([state] {
    state->question.format = parse_format(state->format);
    const auto roofs = state->roofs();
    print(*state, plan_activations(state->question, roofs.get()));
  });
}

}  // namespace

void add_plan_command(CLI::App& app) {
  CLI::App& plan = *app.add_subcommand("plan", "Compute the time and memory of a training run");
  plan.require_subcommand(1);
  add_train(plan);
  add_memory(plan);
  add_tensor(plan);
  add_activations(plan);
  add_zero(plan);
}

}  // namespace ridgebench
