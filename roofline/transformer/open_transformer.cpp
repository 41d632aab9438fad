#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "kernels/common/enum_names.hpp"
#include "kernels/common/error.hpp"
#include "roofline/embedded_json.hpp"
#include "roofline/json_object.hpp"
#include "roofline/transformer/read_parts.hpp"

namespace ridgebench {
namespace {

// Some hundred times a usual config.json.
constexpr std::uintmax_t kLargestConfig = std::uintmax_t{16} << 20U;

std::vector<std::string_view> built_in_names() {
  std::vector<std::string_view> names;
  for (const EmbeddedJson& model : embedded_models()) names.push_back(model.name);
  std::ranges::sort(names);
  return names;
}

// Null if there is none. Upper and lower case are equal.
const EmbeddedJson* find_built_in(std::string config) {
  std::ranges::transform(config, config.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = std::ranges::find(embedded_models(), config, &EmbeddedJson::name);
  return found == embedded_models().end() ? nullptr : &*found;
}

}  // namespace

std::string transformer_names() { return join_names(built_in_names()); }

Transformer open_transformer(const std::string& config) {
  std::error_code ignored;  // a path without access counts as unknown
  if (std::filesystem::is_regular_file(config, ignored)) {
    Transformer model = parse_transformer(read_file(config, kLargestConfig), config);
    read_quantization_beside(config, model);
    compare_sizes(config, model);
    return model;
  }
  if (const EmbeddedJson* const model = find_built_in(config)) {
    Transformer found = parse_transformer(model->text, std::string(model->name));
    found.built_in = true;
    return found;
  }
  if (std::filesystem::exists(config, ignored)) {
    throw UsageError(fmt::format("{}: is not a file; allowed: the config.json of a model", config));
  }
  const std::string_view nearest = nearest_name(config, built_in_names());
  const std::string offer = nearest.empty() ? "" : fmt::format("nearest: {}; ", nearest);
  throw UsageError(fmt::format("no model '{}'; {}allowed: the path of a config.json, or {}", config,
                               offer, transformer_names()));
}

}  // namespace ridgebench
