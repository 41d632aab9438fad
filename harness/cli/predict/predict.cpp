#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/base/printable.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/predict/model.hpp"
#include "harness/cli/predict/output.hpp"
#include "harness/cli/predict/table.hpp"
#include "harness/results/measured_roofs.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/prediction.hpp"
#include "roofline/solve.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

struct PredictOptions {
  std::string operation;
  std::string shape;
  std::string format;
  std::string device;
  std::string solve;
  OutputOptions output;
};

FormatPair format_of(const Operation& operation, const std::string& text) {
  const Operation* const one = &operation;
  return parse_format(text, {&one, 1});
}

const Operation& operation_of(const std::string& name) {
  const Operation& operation = Registry::instance().operation(name);
  if (!operation.ceiling) return operation;
  throw UsageError(fmt::format(
      "{} is a ceiling, which `run` measures; allowed: an operation such as relu or matmul", name));
}

ordered_json prediction_of(const PredictOptions& options) {
  const Operation& operation = operation_of(options.operation);
  const FormatPair format = format_of(operation, options.format);
  const Shape shape = parse_shape(options.shape, operation);
  return predict(operation, shape, format, open_roofs(options.device));
}

ordered_json solution_of(const PredictOptions& options) {
  const Operation& operation = operation_of(options.operation);
  const FormatPair format = format_of(operation, options.format);
  const OpenShape shape = parse_open_shape(options.shape, options.solve, operation);
  return solve_compute_bound(operation, shape, format, open_roofs(options.device));
}

// "memory-bound up to n = 886, compute-bound from n = 887 on".
std::string found_text(const ordered_json& solution) {
  const auto dimension = solution["dimension"].get<std::string>();
  const auto size = [&](const char* key) {
    return fmt::format("{} = {}", dimension, solution[key].get<std::int64_t>());
  };
  const bool compute = !solution["smallest_compute_bound"].is_null();
  if (!compute && solution["largest_memory_bound"].is_null()) {
    return "cannot be decided, because the peak is unknown";
  }
  if (!compute && solution["largest_compute_bound"].is_null()) {
    return fmt::format("never compute-bound, whatever {} is", dimension);
  }
  const char* const limit = compute ? "compute" : "memory";
  const char* const other = compute ? "memory" : "compute";
  const std::string from =
      fmt::format("{}-bound from {} on", limit,
                  size(compute ? "smallest_compute_bound" : "smallest_memory_bound"));
  const char* const below = compute ? "largest_memory_bound" : "largest_compute_bound";
  if (solution[below].is_null()) return from;
  if (solution["alternates_from"].is_null()) {
    return fmt::format("{}-bound up to {}, {}", other, size(below), from);
  }
  return fmt::format("{}-bound below {}, both in turn up to {}, {}", other, size("alternates_from"),
                     size(below), from);
}

std::string solution_text(const ordered_json& solution) {
  const std::string sizes = shape_text(solution["shape"]);
  std::string text =
      fmt::format("{}{}{} in {} on {}: {}\n", solution["op"].get<std::string>(),
                  sizes.empty() ? "" : " ", sizes, solution["format"].get<std::string>(),
                  printable(solution["device"].get<std::string>()), found_text(solution));
  const auto number = [&](const char* key) {
    return solution[key].is_null() ? "unknown"
                                   : fmt::format("{:.4g} FLOP/B", solution[key].get<double>());
  };
  if (!solution["ridge_flop_per_byte"].is_null()) {
    text += fmt::format("intensity there        {}\n", number("intensity_flop_per_byte"));
  }
  text += fmt::format("ridge                  {}\n", number("ridge_flop_per_byte"));
  return text + notes_text(solution, "note: {}\n");
}

// CLI11's own check of required options would refuse the sub-commands, which lack these. --solve
// needs no shape. A word that names no operation is refused before the options that it would need.
void check_given(const CLI::App& command, const std::string& operation) {
  if (command.count("operation") > 0) (void)operation_of(operation);
  for (const char* const option : {"operation", "shape", "--format", "--on"}) {
    const bool needed = std::string_view(option) != "shape" || command.count("--solve") == 0;
    if (needed && command.count(option) == 0) throw CLI::RequiredError(option);
  }
}

void print(const PredictOptions& options) {
  if (options.solve.empty()) {
    options.output.print("predict", prediction_of(options), prediction_text, prediction_csv,
                         prediction_markdown);
  } else {
    options.output.print("predict_solve", solution_of(options), solution_text, prediction_csv,
                         prediction_markdown);
  }
}

}  // namespace

void add_predict_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("predict", "Compute the roofline of an operation or of a model");
  const auto options = std::make_shared<PredictOptions>();
  command->add_option("operation", options->operation, "relu, gelu, dot, matvec, matmul, ...")
      ->type_name("OPERATION");
  command->add_option("shape", options->shape, "4096, n:1M or m:4096/n:1024/k:512/layout:nt")
      ->type_name("SHAPE");
  command->add_option("--format", options->format, "fp32, tf32, fp16, bf16, fp8_e4m3, fp8_e5m2")
      ->type_name("FORMAT");
  command
      ->add_option("--on", options->device, "A data sheet by name or file, or a results directory")
      ->type_name("SHEET");
  command
      ->add_option("--solve", options->solve,
                   "Find the smallest size of this dimension from which the operation is "
                   "compute-bound; without a shape all sizes are equal")
      ->type_name("DIMENSION")
      ->check(not_empty());
  options->output.add_to(*command, "Print CSV: the keys of a prediction, then their values");
  add_predict_model_command(*command);
  add_predict_table_command(*command);
  command->callback([command, options] {
    if (!command->get_subcommands().empty()) return;
    check_given(*command, options->operation);
    print(*options);
  });
}

}  // namespace ridgebench
