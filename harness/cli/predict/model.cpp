#include "harness/cli/predict/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "harness/cli/model_warnings.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/plan/questions.hpp"
#include "harness/cli/predict/output.hpp"
#include "harness/results/measured_roofs.hpp"
#include "harness/results/measured_times.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/transformer/operations.hpp"
#include "roofline/transformer/predict_transformer.hpp"

namespace ridgebench {
namespace {

constexpr double kMostRanks = 1 << 20;

struct ModelOptions {
  std::string config;
  std::string batches = "1";
  std::string context = "4096";
  std::string format = "bf16";
  std::string weights;
  std::string cache;
  std::string device;
  bool training = false;
  std::string ranks = "1";
  std::string link;
  StateQuestion state;
  bool precision_given = false;
  OutputOptions output;
};

// Empty without the option.
std::optional<StoredFormat> stored_as(std::string_view option, const std::string& name) {
  if (name.empty()) return std::nullopt;
  return parse_stored_format(option, name);
}

FormatPair format_of_products(const Operation& matmul, const std::string& name) {
  const Operation* const one = &matmul;
  try {
    return parse_format(name, {&one, 1});
  } catch (const UsageError& unknown) {
    try {
      (void)parse_stored_format("--format", name);
    } catch (const UsageError&) {
      throw unknown;
    }
    throw UsageError(
        fmt::format("--format is '{0}', in which values are only stored; allowed: --weights {0} or "
                    "--cache {0}, "
                    "and for the products bf16 or another format that computes",
                    name));
  }
}

// Weights and gradients have the width of the products, unless --precision says otherwise.
StateQuestion state_of(const ModelOptions& options, FormatPair products) {
  constexpr double kSingle = 4;
  StateQuestion state = options.state;
  if (!options.precision_given && info(products.b).storage_bytes == kSingle) {
    state.precision = "fp32";
  }
  return state;
}

// Returns the times of matrix products. A matrix-vector product counts as one of a single row.
BestTimes times_of_products(const MeasuredTimes& times, const Operation& matmul,
                            FormatPair format) {
  BestTimes best = times.best(matmul, format);
  const Operation& matvec = Registry::instance().operation("matvec");
  for (const auto& [text, time] : times.best(matvec, format)) {
    const Shape shape = parse_shape(text, matvec);
    const std::string product = fmt::format("m:1/n:{}/k:{}/layout:nt", shape["m"], shape["n"]);
    keep_best(best, parse_shape(product, matmul), time);
  }
  return best;
}

// Says which power states the measured times come from, if they are of several: two of them are two
// clocks, and the table sums them.
std::optional<std::string> note_on_states(const std::map<PowerState, int>& states) {
  if (states.size() < 2) return std::nullopt;
  std::vector<std::string> parts;
  for (const auto& [state, count] : states)
    parts.push_back(fmt::format("{} {}", name(state), count));
  return fmt::format("the measured times are of different power states: {}",
                     fmt::join(parts, ", "));
}

nlohmann::ordered_json answer(const ModelOptions& options) {
  const Operation& matmul = Registry::instance().operation("matmul");
  const Transformer model = open_transformer(options.config);
  const FormatPair products = format_of_products(matmul, options.format);
  const TransformerQuestion question{
      .batches = counts_of("--batch", options.batches, kMostTokens),
      .context = count_of("--context", options.context, kMostTokens),
      .format = products,
      .weights = stored_as("--weights", options.weights),
      .cache = stored_as("--cache", options.cache),
      .training = options.training,
      .state = state_of(options, products),
      .ranks = count_of("--tensor-parallel", options.ranks, kMostRanks),
      .link = link_between_gpus(options.link)};
  const Roofs roofs = open_roofs(options.device);
  const Operation& attention = Registry::instance().operation(kAttentionDecode);
  const Format cache = product_format(question.format);
  const bool has_format =
      std::ranges::find(attention.formats, FormatPair(cache)) != attention.formats.end();
  const MeasuredTimes times(options.device);
  const BestTimes products_s = times_of_products(times, matmul, question.format);
  const BestTimes attention_s = has_format ? times.best(attention, cache) : BestTimes{};
  bool any = false;
  std::map<PowerState, int> states;
  const auto achieved = [&](std::string_view name, const Shape& shape) -> std::optional<double> {
    const BestTimes& measured = name == kAttentionDecode ? attention_s : products_s;
    const auto found = measured.find(shape.text());
    if (found == measured.end()) return std::nullopt;
    any = true;
    if (found->second.state) ++states[*found->second.state];
    return found->second.seconds;
  };
  nlohmann::ordered_json reply = predict_transformer(matmul, model, question, roofs, achieved);
  if (options.output.csv()) print_warnings(reply["warnings"].get<std::vector<std::string>>());
  if (const auto note = note_on_states(states)) reply["notes"].push_back(*note);
  if (times.of_step() && !any) {
    reply["notes"].push_back(
        "the step measured no row of this table: `step decode` needs this --batch, --context and "
        "--format, and so many --layers that no cache serves its parts");
  }
  return reply;
}

}  // namespace

void add_predict_model_command(CLI::App& predict) {
  CLI::App* command = predict.add_subcommand(
      "model", "Compute the roofline of a transformer's prefill, decode and training");
  const auto options = std::make_shared<ModelOptions>();
  command
      ->add_option("model", options->config,
                   "A Hugging Face config.json, or " + transformer_names())
      ->required()
      ->type_name("CONFIG");
  command
      ->add_option("--on", options->device, "A data sheet by name or file, or a results directory")
      ->required()
      ->type_name("SHEET");
  command->add_option("--batch", options->batches, "Sequences that are decoded together: 1,8,64")
      ->capture_default_str();
  command->add_option("--context", options->context, "Tokens of each sequence: 4096")
      ->capture_default_str();
  command->add_option("--format", options->format, "Format of the matrix products' inputs")
      ->capture_default_str()
      ->type_name("FORMAT");
  CLI::Option* weights =
      command
          ->add_option(
              "--weights", options->weights,
              "Format in which the linear layers but lm_head are stored, if it is another: fp8, "
              "int8, mxfp8, nvfp4, mxfp4, int4 (128 share a scale)")
          ->check(not_empty())
          ->type_name("FORMAT");
  CLI::Option* cache =
      command
          ->add_option(
              "--cache", options->cache,
              "Format of keys and values in the cache, if it is another: fp8, int8, nvfp4, int4")
          ->check(not_empty())
          ->type_name("FORMAT");
  CLI::Option* training =
      command
          ->add_flag("--training", options->training,
                     "A training step of batch x context tokens instead of prefill and decode")
          ->excludes(weights)
          ->excludes(cache);
  add_optimizer(*command, options->state)->needs(training);
  CLI::Option* precision = add_precision(*command, options->state)->needs(training);
  CLI::Option* ranks =
      command
          ->add_option("--tensor-parallel", options->ranks,
                       "Devices that share each layer: prints what one of them computes and sends")
          ->capture_default_str()
          ->excludes(training);
  add_link(*command, options->link)->check(not_empty())->needs(ranks);
  options->output.add_to(*command, "Print CSV: a line per operation");
  command->callback([options, precision] {
    options->precision_given = precision->count() > 0;
    options->output.print("predict_model", answer(*options), model_text, model_csv, model_markdown);
  });
}

}  // namespace ridgebench
