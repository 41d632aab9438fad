// `plan parallel` and `plan check`, which have most options of the other questions.
#include <memory>
#include <string>

#include "harness/cli/number_option.hpp"
#include "harness/cli/plan/questions.hpp"
#include "harness/results/measured_links.hpp"

namespace ridgebench {

void add_plan_parallel(CLI::App& plan) {
  struct State : PlanOptions {
    ParallelQuestion question;
    std::string model;
    std::string link;
  };
  const auto state = std::make_shared<State>();
  CLI::App& app = *plan.add_subcommand(
      "parallel", "Compare ZeRO, tensor and pipeline parallelism: bytes of a rank, what it sends");
  add_state(app, state->question.state);
  add_number(app, "--ranks,--gpus", state->question.ranks, "Devices that share the batch")
      ->required();
  add_activations_of_model(app, state->question.activations, state->model,
                           "Sequences of all devices together");
  add_link(app, state->link)->check(not_empty());
  add_plan_format(app, *state, "Format of the activations");
  add_plan_device(app, *state);
  add_plan_json(app, *state);
  app.callback([state] {
    resolve(state->question.activations, *state, state->model);
    state->question.link = link_between_gpus(state->link);
    const auto roofs = state->roofs();
    print_plan(*state, plan_parallel(state->question, roofs.get()));
  });
}

void add_plan_check(CLI::App& plan) {
  struct State : PlanOptions {
    CheckQuestion question;
    std::string model;
    std::string link;
    std::string host_link;
    std::string mfu;
  };
  const auto state = std::make_shared<State>();
  CLI::App& app = *plan.add_subcommand(
      "check", "Check a training run before it starts: memory, time, format, communication");
  add_state(app, state->question.fits.state);
  add_number(app, "--stage", state->question.fits.stage, "Stage of ZeRO, 0 to 3 (0)");
  add_number(app, "--ranks,--gpus", state->question.fits.ranks, "Number of devices (1)");
  add_activations_of_model(app, state->question.fits.activations, state->model,
                           "Sequences of one device");
  add_number(app, "--tokens", state->question.tokens, "Tokens of the training data: 15T")
      ->required();
  app.add_option("--mfu", state->mfu, "Model FLOPs utilisation that is expected: 0.4 or 40%")
      ->required();
  add_number(app, "--days", state->question.days, "Days that the run may take; default: any");
  add_link(app, state->link)->check(not_empty());
  app.add_option("--host-link", state->host_link,
                 "Link of a device to its host, with --precision bf16-offload: as --link")
      ->check(not_empty());
  add_plan_format(app, *state, "Format of the matmuls and of the activations");
  add_plan_device(app, *state);
  add_plan_json(app, *state);
  app.get_option("--on")->required();
  app.callback([state] {
    resolve(state->question.fits.activations, *state, state->model);
    state->question.format = parse_format_pair(state->format);
    state->question.mfu = fraction_of("--mfu", state->mfu);
    state->question.link = link_between_gpus(state->link);
    if (!state->host_link.empty()) {
      state->question.host_link = open_link_of_ranks(state->host_link, kToDevice);
    }
    print_plan(*state, plan_check(state->question, *state->roofs()));
  });
}

}  // namespace ridgebench
