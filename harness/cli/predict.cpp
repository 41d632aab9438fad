#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ranges>

#include "harness/base/printable.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/predict/model.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/results/measured_roofs.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/prediction.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

struct PredictOptions {
  std::string operation;
  std::string shape;
  std::string format;
  std::string device;
  bool json = false;
};

FormatPair format_of(const Operation& operation, const std::string& text) {
  const FormatPair format = parse_format_pair(text);
  if (std::ranges::find(operation.formats, format) == operation.formats.end()) {
    const auto names = operation.formats | std::views::transform(&FormatPair::name);
    throw UsageError(fmt::format("{} has no format {}; allowed: {}", operation.name, format.name(),
                                 fmt::join(names, ", ")));
  }
  return format;
}

const Operation& operation_of(const std::string& name) {
  const Operation& operation = Registry::instance().operation(name);
  if (!operation.ceiling) return operation;
  throw UsageError(fmt::format(
      "{} is a ceiling, which `run` measures; allowed: an operation such as relu or matmul", name));
}

ordered_json answer(const PredictOptions& options) {
  const Operation& operation = operation_of(options.operation);
  const FormatPair format = format_of(operation, options.format);
  const Shape shape = parse_shape(options.shape, operation.dimensions, operation.has_layout);
  return predict(operation, shape, format, open_roofs(options.device));
}

// The part of a key that is its unit, and that unit as people write it.
struct Unit {
  std::string_view suffix;
  std::string_view text;
};
constexpr std::array kUnits{Unit{"_flop_per_byte", "FLOP/B"}, Unit{"_flops_per_s", "FLOP/s"},
                            Unit{"_bytes_per_s", "B/s"}, Unit{"_s", "s"}};

std::string shape_text(const ordered_json& sizes) {
  std::string text;
  for (const auto& [dimension, size] : sizes.items()) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : "/", dimension,
                        size.is_string() ? size.get<std::string>() : size.dump());
  }
  return text;
}

std::string value_text(const std::string& key, const ordered_json& value, std::string_view unit) {
  if (value.is_null()) return "unknown";
  if (value.is_string()) return printable(value.get<std::string>());
  if (key == "shape") return shape_text(value);
  const double number = value.get<double>();
  if (key == "flops") return with_unit(number, "FLOP");
  if (key == "bytes") return with_unit(number, "B");
  if (key == "mfu_bound") return fmt::format("{:.3g} %", 100 * number);
  return with_unit(number, unit);
}

void print_prediction(const ordered_json& prediction) {
  for (const auto& [key, value] : prediction.items()) {
    const auto unit =
        std::ranges::find_if(kUnits, [&](const Unit& u) { return key.ends_with(u.suffix); });
    const bool known = unit != kUnits.end();
    std::string label = known ? key.substr(0, key.size() - unit->suffix.size()) : key;
    std::ranges::replace(label, '_', ' ');
    if (key == "notes") {
      for (const auto& note : value) {
        fmt::print("note: {}\n", printable(note.get<std::string>()));
      }
    } else if (key != "launch_floor_s" || !value.is_null()) {
      fmt::print("{:<22} {}\n", label, value_text(key, value, known ? unit->text : ""));
    }
  }
}

// CLI11's own check of required options would refuse `predict model`, which lacks these.
void check_given(const CLI::App& command) {
  for (const char* const option : {"operation", "shape", "--format", "--on"}) {
    if (command.count(option) == 0) throw CLI::RequiredError(option);
  }
}

}  // namespace

void add_predict_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "predict", "Compute the roofline of an operation or of a model on a device");
  const auto options = std::make_shared<PredictOptions>();
  command->add_option("operation", options->operation, "relu, gelu, dot, matvec, matmul, ...");
  command->add_option("shape", options->shape, "4096, n:1M or m:4096/n:1024/k:512/layout:nt");
  command->add_option("--format", options->format, "fp32, tf32, fp16, bf16, fp8_e4m3, fp8_e5m2");
  command->add_option("--on", options->device,
                      "A data sheet by name or file, or a results directory");
  command->add_flag("--json", options->json, "Print strict JSON");
  add_predict_model_command(*command);
  command->callback([command, options] {
    if (!command->get_subcommands().empty()) return;
    check_given(*command);
    const ordered_json prediction = answer(*options);
    if (options->json)
      print_json(prediction);
    else
      print_prediction(prediction);
  });
}

}  // namespace ridgebench
