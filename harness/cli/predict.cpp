#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>

#include "harness/cli/commands.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/results/measured_roofs.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/model.hpp"

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

ordered_json predict(const PredictOptions& options) {
  const Operation& operation = Registry::instance().operation(options.operation);
  const FormatPair format = format_of(operation, options.format);
  const Shape shape = parse_shape(options.shape, operation.dimensions, operation.has_layout);
  const Roofs roofs = open_roofs(options.device);
  const Roof limits = roof(roofs, format, written_fraction(operation, shape, format));
  const Work work{operation.flops(shape), bytes(operation, shape, format)};
  ordered_json sizes = ordered_json::object();
  for (const auto& [dimension, size] : shape.dimensions()) sizes[dimension] = size;
  if (shape.has_layout()) sizes["layout"] = name(shape.layout());
  const auto intensity = work.intensity();
  return {{"op", operation.name},
          {"shape", sizes},
          {"format", format.name()},
          {"device", roofs.name()},
          {"flops", work.flops},
          {"bytes", work.bytes},
          {"intensity_flop_per_byte", intensity ? ordered_json(*intensity) : ordered_json(nullptr)},
          {"ridge_flop_per_byte", limits.ridge()},
          {"bound", name(bound(work, limits))},
          {"peak_flops_per_s", limits.peak_flops_per_s},
          {"bandwidth_bytes_per_s", limits.bandwidth_bytes_per_s},
          {"attainable_flops_per_s", attainable_flops_per_s(work, limits)},
          {"mfu_bound", mfu_bound(work, limits)},
          {"time_lower_bound_s", time_lower_bound_s(work, limits)},
          {"time_without_overlap_s", time_without_overlap_s(work, limits)}};
}

void print(const ordered_json& prediction) {
  for (const auto& [key, value] : prediction.items()) {
    const std::string text = value.is_number()   ? fmt::format("{:.6g}", value.get<double>())
                             : value.is_string() ? value.get<std::string>()
                                                 : value.dump();
    fmt::print("{:<26} {}\n", key, text);
  }
}

}  // namespace

void add_predict_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("predict", "Compute the roofline of an operation on a device");
  const auto options = std::make_shared<PredictOptions>();
  command->add_option("operation", options->operation, "relu, gelu, dot, matvec, matmul, ...")
      ->required();
  command->add_option("shape", options->shape, "n:4096 or m:4096/n:1024/k:512/layout:nt")
      ->required();
  command->add_option("--format", options->format, "fp32, tf32, fp16, bf16, fp8_e4m3, fp8_e5m2")
      ->required();
  command->add_option("--on", options->device, "A data sheet or a results directory")->required();
  command->add_flag("--json", options->json, "Print strict JSON");
  command->callback([options] {
    const ordered_json prediction = predict(*options);
    if (options->json)
      print_json(prediction);
    else
      print(prediction);
  });
}

}  // namespace ridgebench
