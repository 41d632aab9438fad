#include "harness/cli/options/shape_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/model_warnings.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/measure/selection/shapes_file.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/transformer/operations.hpp"
#include "roofline/transformer/transformer.hpp"

namespace ridgebench {
namespace {

std::vector<std::string> loaded_operations() {
  std::vector<std::string> names;
  for (const auto& operation : Registry::instance().operations()) {
    if (!operation->loaded_from.empty()) names.push_back(operation->name);
  }
  return names;
}

}  // namespace

std::vector<CLI::Option*> ShapeOptions::add_to(CLI::App& command) {
  CLI::Option* shape =
      command
          .add_option("--shape", shapes_,
                      "m:4096/n:14336/k:4096, or 4096 for all dimensions; lists m:1,16, ranges "
                      "m:512..4096:512 and m:1..4096:x2; may be repeated; default: the profile's")
          ->allow_extra_args(false)
          ->type_name("SHAPE");
  CLI::Option* file = command.add_option("--shapes", file_,
                                         "File of shapes, one a line: OPERATION SHAPE [FORMAT]; or "
                                         "a CSV table with a header, such as m,n,k");
  CLI::Option* model = command.add_option(
      "--model", model_,
      "Products of a transformer: a Hugging Face config.json, or a name that `predict model "
      "--help` lists");
  CLI::Option* tokens =
      command.add_option("--tokens", tokens_, "With --model: tokens of a pass, 1,16,2048");
  CLI::Option* training =
      command.add_flag("--training", training_, "With --model: also the backward products");
  file->check(not_empty())->type_name("FILE");
  model->check(not_empty())->type_name("CONFIG");
  model->needs(tokens);
  tokens->needs(model);
  training->needs(model);
  return {shape, file, model, tokens, training};
}

std::vector<std::string> ShapeOptions::lines(const std::vector<std::string>& operations) const {
  const std::vector<std::string> sized = operations.empty() ? loaded_operations() : operations;
  if (!shapes_.empty() && sized.empty()) {
    throw UsageError(
        "--shape needs --op, which names the operations of the shape, or --load of a file with "
        "operations");
  }
  std::vector<std::string> lines;
  for (const std::string& operation : sized) {
    for (const std::string& shape : shapes_) {
      if (shape.empty() || shape.starts_with(',') ||
          shape.find_first_of(" \t") != std::string::npos) {
        throw UsageError(
            fmt::format("--shape is '{}'; allowed: a shape without blanks, for "
                        "instance m:4096/n:14336/k:4096",
                        shape));
      }
      lines.push_back(parse_shape_line(ShapeLine{operation, shape, std::nullopt}.text()).text());
    }
  }
  if (!file_.empty()) {
    for (const ShapeLine& line : read_shapes_file(file_, operations)) lines.push_back(line.text());
  }
  if (!model_.empty()) {
    for (std::string& line : model_lines(operations)) lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> ShapeOptions::model_lines(
    const std::vector<std::string>& operations) const {
  const Operation& matmul = Registry::instance().operation("matmul");
  if (!operations.empty() && std::ranges::find(operations, matmul.name) == operations.end()) {
    throw UsageError(
        fmt::format("--model has shapes of {0}; allowed: --op {0}, or no --op", matmul.name));
  }
  const Transformer model = open_transformer(model_);
  std::vector<std::string> lines =
      product_lines(matmul, model, counts_of("--tokens", tokens_, kMostTokens), training_);
  print_model_warnings(model);
  return lines;
}

}  // namespace ridgebench
