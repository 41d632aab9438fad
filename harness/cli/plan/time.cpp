#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/cli/model_warnings.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/plan/questions.hpp"
#include "harness/results/measured_links.hpp"
#include "harness/results/measured_roofs.hpp"
#include "harness/results/step_rows.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"
#include "roofline/plan/collectives.hpp"
#include "roofline/transformer/transformer.hpp"

namespace ridgebench {
namespace {

// Reads the MFU from a number or from a results directory that measured it.
void resolve_mfu(TrainQuestion& question, const std::string& text) {
  if (text.empty()) return;
  question.mfu = parse_fraction(text);
  if (question.mfu) return;
  std::error_code ignored;  // a path without access counts as no folder
  if (!std::filesystem::is_directory(text, ignored)) {
    throw UsageError(fmt::format(
        "--mfu is '{}'; allowed: a number from 0 to 1 such as 0.4 or 40%, or a results directory",
        text));
  }
  question.mfu_of_step = holds_step(text);
  const MeasuredMfu measured = question.mfu_of_step ? best_step_mfu(text, question.format)
                                                    : best_matmul_mfu(text, question.format);
  question.mfu = measured.mfu;
  question.mfu_row = measured.id;
  question.mfu_sheet = measured.data_sheet;
  question.mfu_remark = measured.remark;
}

// TrainQuestion or MfuQuestion, with the model's name.
template <class Question>
struct TimeOptions : PlanOptions {
  Question question;
  std::string model;
};

template <class Question>
void add_work(CLI::App& app, TimeOptions<Question>& options) {
  Question& question = options.question;
  add_number(app, "--parameters,--params", question.work.parameters,
             "Parameters of the model: 70B");
  app.add_option("--model", options.model,
                 "Parameters that a token of this transformer meets: a Hugging Face config.json, "
                 "or a name that `predict model --help` lists")
      ->check(not_empty())
      ->type_name("CONFIG");
  add_number(app, "--tokens", question.work.tokens, "Tokens of the training data: 15T");
  add_number(app, "--flops", question.work.flops, "FLOPs, instead of parameters and tokens");
  add_number(app, "--gpus", question.gpus, "Number of devices (1)");
  add_number(app, "--peak", question.peak,
             "FLOP/s of one device that the MFU is a share of: 1000T; default: the data sheet's");
  add_plan_format(app, options, "Format of the matmuls, which selects the peak");
  add_plan_device(app, options);
  add_plan_json(app, options);
}

template <class Question>
void resolve_work(TimeOptions<Question>& options) {
  options.question.format = parse_measured_format(options.format);
  if (options.model.empty()) return;
  const Transformer model = open_transformer(options.model);
  print_model_warnings(model);
  options.question.work.model = {model.name, parameters(model), active_parameters(model)};
}

void add_costs(CLI::App& app, Costs& costs) {
  add_number(app, "--watts", costs.watts, "Power of a device; default: the data sheet's TDP");
  add_number(app, "--pue", costs.pue, "Energy of the site over that of the devices (1)");
  add_number(app, "--price-per-gpu-hour", costs.price_per_gpu_hour,
             "Price of a device for an hour; the cost has the same currency");
}

// "b=8,s=4k": a size for each index.
void add_sizes(std::map<std::string, double>& sizes, const std::string& text) {
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UsageError(
          fmt::format("--size is '{}'; allowed: an index and its size, such as b=8", part));
    }
    const std::string index = part.substr(0, equals);
    const std::string option = fmt::format("--size {}", index);
    const auto size = count_of(option, part.substr(equals + 1), kLargestCount);
    if (!sizes.emplace(index, static_cast<double>(size)).second) {
      throw UsageError(fmt::format("{} is given twice; allowed: one size for an index", option));
    }
  }
}

struct TransferOptions : PlanOptions {
  double bytes = 0;
  std::string link;
  std::string direction;
  std::string collective;
  std::optional<double> ranks;

  [[nodiscard]] std::optional<CollectiveQuestion> question() const {
    if (collective.empty()) return std::nullopt;
    return CollectiveQuestion{collective, *ranks};
  }
  // Ranks are joined by links between GPUs.
  [[nodiscard]] std::string way() const {
    if (!direction.empty()) return direction;
    return collective.empty() ? kToDevice : "peer";
  }
  [[nodiscard]] Link opened() const {
    return collective.empty() ? open_link(link, way()) : open_link_of_ranks(link, way());
  }

  // Returns the device that could create the bytes instead: that of --on, or of a results directory
  // that has the roofs of one device; else null.
  [[nodiscard]] std::unique_ptr<Roofs> target() const {
    const bool arrives = collective.empty() && way() == kToDevice;
    if (!device.empty() && !arrives) {
      throw UsageError(
          fmt::format("plan transfer: --on names the device that the bytes go to; allowed: "
                      "--direction {}",
                      kToDevice));
    }
    if (!device.empty()) return roofs();
    std::error_code ignored;  // a path without access counts as no folder
    if (!arrives || !std::filesystem::is_directory(link, ignored)) return nullptr;
    try {
      return std::make_unique<Roofs>(open_roofs(link));
    } catch (const UsageError&) {  // no ceilings, or several devices: nothing is compared
      return nullptr;
    }
  }
};

}  // namespace

CLI::Option* add_link(CLI::App& app, std::string& link) {
  return app.add_option("--link", link,
                        "byte/s such as 50G or 50GB/s, a results directory with copies of a GPU, "
                        "or a name that `plan transfer --help` lists");
}

std::optional<Link> link_between_gpus(const std::string& link) {
  if (link.empty()) return std::nullopt;
  return open_link_of_ranks(link, "peer");
}

void add_plan_train(CLI::App& plan) {
  struct State : TimeOptions<TrainQuestion> {
    std::string mfu;
    std::string reserve;
    StateQuestion optimizer;
  };
  const auto state = std::make_shared<State>();
  CLI::App& app =
      *plan.add_subcommand("train", "Compute FLOPs, days, energy and cost of a training run");
  add_work(app, *state);
  add_number(app, "--days", state->question.days, "Days of the run: compute the FLOPs that fit");
  app.add_option("--mfu,--mfu-from", state->mfu,
                 "Model FLOPs utilisation: 0.4, 40%, or a results directory with a matmul or a "
                 "`step train` of the same device");
  app.add_option("--reserve", state->reserve,
                 "Share of the days without work, for failures, restarts and queues: 0.1, 10% (0)")
      ->check(not_empty());
  add_number(app, "--step-tokens", state->question.step_tokens,
             "Tokens of a step on all devices: 4M; counts the optimizer's steps");
  const CLI::Option* optimizer = add_optimizer(app, state->optimizer);
  const CLI::Option* precision = add_precision(app, state->optimizer);
  add_costs(app, state->question.costs);
  app.callback([state, optimizer, precision] {
    resolve_work(*state);
    resolve_mfu(state->question, state->mfu);
    if (!state->reserve.empty()) {
      state->question.reserve = fraction_of("--reserve", state->reserve);
    }
    if (optimizer->count() + precision->count() > 0) state->question.state = state->optimizer;
    const auto roofs = state->roofs();
    print_plan(*state, plan_train(state->question, roofs.get()));
  });
}

void add_plan_mfu(CLI::App& plan) {
  const auto state = std::make_shared<TimeOptions<MfuQuestion>>();
  CLI::App& app = *plan.add_subcommand("mfu", "Compute the MFU from a time of your own");
  add_work(app, *state);
  add_number(app, "--time", state->question.time_s, "Seconds that the work took")->required();
  app.callback([state] {
    resolve_work(*state);
    const auto roofs = state->roofs();
    print_plan(*state, plan_mfu(state->question, roofs.get()));
  });
}

void add_plan_einsum(CLI::App& plan) {
  struct State : PlanOptions {
    std::string expression;
    std::vector<std::string> sizes;
  };
  const auto state = std::make_shared<State>();
  CLI::App& app = *plan.add_subcommand("einsum", "Compute the FLOPs and bytes of an einsum");
  app.add_option("expression", state->expression,
                 "Indices as letters, bshd,bthd->bhst, or as names: 'batch seq1 hidden, batch "
                 "seq2 hidden -> batch seq1 seq2', 'seq (heads hidden) -> heads seq hidden'")
      ->required();
  app.add_option("--size", state->sizes,
                 "Sizes of the indices: b=8,s=4k,t=4k,h=32,d=128 or batch=8,seq1=4k")
      ->required()
      ->allow_extra_args(false);
  add_plan_format(app, *state, "Format of the operands and of the result");
  add_plan_json(app, *state);
  app.callback([state] {
    std::map<std::string, double> sizes;
    for (const std::string& text : state->sizes) add_sizes(sizes, text);
    print_plan(*state, plan_einsum(state->expression, sizes, parse_format(state->format)));
  });
}

void add_plan_transfer(CLI::App& plan) {
  const auto state = std::make_shared<TransferOptions>();
  CLI::App& app = *plan.add_subcommand("transfer", "Compute how long bytes take over a link");
  add_number(app, "--bytes", state->bytes, "Bytes: 140G", bytes_of)->required();
  add_link(app, state->link)
      ->required()
      ->description("byte/s such as 50G, a results directory with copies of a GPU, or " +
                    link_names());
  app.add_option("--direction", state->direction,
                 fmt::format("Of the copies of a results directory: {}; default: to-device, of a "
                             "collective peer",
                             kDirections))
      ->check(not_empty());
  CLI::Option* collective =
      app.add_option("--collective", state->collective,
                     "The bytes are the message of a collective of ranks with a link each: " +
                         collective_names())
          ->check(not_empty());
  CLI::Option* ranks = add_number(app, "--ranks", state->ranks, "Number of ranks of a collective");
  collective->needs(ranks);
  ranks->needs(collective);
  add_plan_device(app, *state);
  app.get_option("--on")->description(
      "Device that could create the bytes instead: a data sheet, a data sheet file or a results "
      "directory; default: that of --link, if it is one");
  collective->excludes(app.get_option("--on"));
  add_plan_json(app, *state);
  app.callback([state] {
    const Link link = state->opened();
    const auto target = state->target();
    print_plan(*state, plan_transfer(state->bytes, link, state->question(), target.get()));
  });
}

}  // namespace ridgebench
