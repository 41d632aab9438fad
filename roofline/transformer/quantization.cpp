// quantization_config: how a file of a quantised model stores its weights. Sources: the keys that
// transformers, compressed-tensors and NVIDIA ModelOpt write.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/json_object.hpp"
#include "roofline/transformer/families.hpp"
#include "roofline/transformer/read_parts.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;

constexpr const char* kFileBeside = "hf_quant_config.json";
constexpr std::uintmax_t kLargestFileBeside = std::uintmax_t{64} << 20U;

struct Method {
  std::string_view name;
  std::string_view format;
};
// The first that ends a name counts.
constexpr std::array kMethods{Method{"mxfp8", "mxfp8"},         Method{"mxfp4", "mxfp4"},
                              Method{"nvfp4", "nvfp4"},         Method{"int8", "int8"},
                              Method{"fbgemm_fp8", "fp8_e4m3"}, Method{"fp8", "fp8_e4m3"}};

// A module by a pattern of its name, and the kind of its weights. The first that fits counts.
struct Module {
  std::string_view pattern;
  WeightKind kind;
};
constexpr std::array kModules{Module{"*linear_attn", WeightKind::recurrence},
                              Module{"*mamba", WeightKind::recurrence},
                              Module{"*attn", WeightKind::attention},
                              Module{"*attention", WeightKind::attention},
                              Module{"*shared_expert", WeightKind::shared},
                              Module{"*shared_experts", WeightKind::shared},
                              Module{"*shared_mlp", WeightKind::shared},
                              Module{"*experts", WeightKind::expert},
                              Module{"*mlp\\.(gate|up|gate_up|down)_proj", WeightKind::dense},
                              Module{"*.mlp", WeightKind::dense},
                              Module{"*lm_head", WeightKind::head}};
// Modules without weights that are counted.
constexpr std::array<std::string_view, 12> kSmallModules{
    "*norm*",   "*gate",   "*router*", "*embed*",  "*vision*",      "*bias",
    "*conv1d*", "*index*", "*mtp*",    "*visual*", "*multi_modal*", "*proj_a*"};

bool is_true(const json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_boolean() && found->get<bool>();
}

// NaN for a value that is not a number.
double number_of(const json& config, const char* key, double absent) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return absent;
  return found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

// Empty for bits and groups that no format of integers has. Groups of -1 or 0 are whole columns.
std::optional<StoredFormat> integers_in_groups(double bits, double group, bool zeros) {
  constexpr double kMostBits = 8;
  const bool has_bits = bits >= 2 && bits <= kMostBits && bits == std::floor(bits);
  const bool has_group = group == -1 || group == 0 || group >= 1;
  if (!has_bits || !has_group) return std::nullopt;
  return grouped_format(static_cast<int>(bits), group, zeros);
}

std::string lower_text(const json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end() || !found->is_string()) return "";
  std::string text = found->get<std::string>();
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// The weights of the only group; null if there are none or several.
json only_weights(const json& config) {
  const auto groups = config.find("config_groups");
  if (groups == config.end() || !groups->is_object() || groups->size() != 1) return {};
  const json& group = *groups->begin();
  return group.is_object() ? group.value("weights", json()) : json();
}

// "num_bits", "type" and "group_size" of compressed-tensors.
std::optional<StoredFormat> format_of_weights(const json& weights, const std::string& format) {
  constexpr double kFour = 4;
  constexpr double kMxGroup = 32;
  constexpr double kEight = 8;
  if (!weights.is_object()) return std::nullopt;
  const double bits = number_of(weights, "num_bits", 0);
  const double group = number_of(weights, "group_size", 0);
  const bool floats = lower_text(weights, "type") == "float";
  if (floats && bits == kEight) return parse_stored_format("weights", "fp8_e4m3");
  if (floats && bits == kFour) {
    const bool mx = group == kMxGroup || format.find("mxfp4") != std::string::npos;
    return parse_stored_format("weights", mx ? "mxfp4" : "nvfp4");
  }
  if (lower_text(weights, "type") != "int") return std::nullopt;
  return integers_in_groups(bits, group, !is_true(weights, "symmetric"));
}

// Linear layers in 8 or 4 bits by bitsandbytes; it takes no more than one of both.
std::optional<StoredFormat> bitsandbytes_format(const json& config) {
  // NF4 and FP4: 64 values share a scale in fp32. With double quantization, the scale has 8 bits,
  // and 256 scales share one in fp32.
  constexpr double kBlock = 64;
  constexpr double kScale = 4;
  constexpr double kScalesOfAScale = 256;
  const bool eight = is_true(config, "load_in_8bit");
  const bool four = is_true(config, "load_in_4bit");
  if (eight == four) return std::nullopt;
  if (eight) return parse_stored_format("weights", "int8");
  const bool twice = is_true(config, "bnb_4bit_use_double_quant");
  return StoredFormat{"nf4", 0.5, twice ? 1 + kScale / kScalesOfAScale : kScale, kBlock};
}

// Weights of which only those that are not zero are stored.
bool is_sparse(const json& config) {
  const json sparsity = config.value("sparsity_config", json());
  const std::string format = sparsity.is_object() ? lower_text(sparsity, "format") : "";
  return lower_text(config, "format") == "marlin-24" || (!format.empty() && format != "dense");
}

std::optional<StoredFormat> stored_format(const json& config) {
  if (is_sparse(config)) return std::nullopt;
  const std::string method = lower_text(config, "quant_method");
  const std::string algorithm = lower_text(config, "quant_algo");
  for (const std::string& name : {algorithm, method}) {
    const auto found = std::ranges::find(kMethods, name, &Method::name);
    if (found != kMethods.end()) return parse_stored_format("weights", found->format);
  }
  if (method == "awq" || method == "gptq") {
    const bool zeros =
        method == "awq" ? !config.contains("zero_point") || is_true(config, "zero_point") : true;
    return integers_in_groups(number_of(config, "bits", 4), number_of(config, "group_size", 128),
                              zeros);
  }
  if (method == "bitsandbytes") return bitsandbytes_format(config);
  return format_of_weights(only_weights(config), lower_text(config, "format"));
}

std::vector<std::string> left_out(const json& config) {
  std::vector<std::string> modules;
  for (const char* const key : {"modules_to_not_convert", "ignore", "exclude_modules",
                                "ignored_layers", "llm_int8_skip_modules"}) {
    const auto found = config.find(key);
    if (found == config.end() || !found->is_array()) continue;
    for (const json& module : *found) {
      if (module.is_string()) modules.push_back(module.get<std::string>());
    }
  }
  return modules;
}

// A pattern of regular expressions or of a shell, without its ends: "re:.*self_attn.*".
std::string_view bare(std::string_view module) {
  if (module.starts_with("re:")) module.remove_prefix(3);
  while (module.ends_with('*') || module.ends_with('.') || module.ends_with('$'))
    module.remove_suffix(1);
  return module;
}

const Module* module_of(std::string_view name) {
  const auto known = std::ranges::find_if(kModules, [&](const Module& m) {
    return fits_pattern(name, m.pattern) || fits_pattern(m.pattern.substr(1), name);
  });
  return known == kModules.end() ? nullptr : &*known;
}

// Leaves the modules that a config lists in 16 bits.
void leave_out(const json& config, WeightFormats& weights, Transformer& model) {
  std::vector<std::string> unread;
  for (const std::string& module : left_out(config)) {
    const std::string_view name = bare(module);
    if (const Module* const known = module_of(name)) {
      weights.of(known->kind).reset();
      continue;
    }
    const bool small = std::ranges::any_of(
        kSmallModules, [&](std::string_view pattern) { return fits_pattern(name, pattern); });
    if (!small) unread.push_back(module);
  }
  if (unread.empty()) return;
  model.notes.push_back(fmt::format(
      "{} modules that quantization_config leaves out are counted as quantised, the first "
      "is {}",
      unread.size(), unread.front()));
}

// NVIDIA ModelOpt's list of modules with a format each: "W4A16_NVFP4".
void add_listed(const json& modules, WeightFormats& weights) {
  if (!modules.is_object()) return;
  for (const auto& [name, entry] : modules.items()) {
    const std::string algorithm = entry.is_object() ? lower_text(entry, "quant_algo") : "";
    const auto method = std::ranges::find_if(
        kMethods, [&](const Method& m) { return algorithm.ends_with(m.name); });
    const auto module = std::ranges::find_if(kModules, [&full = name](const Module& m) {
      return fits_pattern(full, fmt::format("{}*", m.pattern));
    });
    if (method == kMethods.end() || module == kModules.end()) continue;
    weights.of(module->kind) = parse_stored_format("weights", method->format);
  }
}

}  // namespace

void read_quantization_beside(const std::string& path, Transformer& model) {
  const std::filesystem::path file = std::filesystem::path(path).parent_path() / kFileBeside;
  std::error_code ignored;
  const bool known = model.weights.any();
  if (known || !std::filesystem::is_regular_file(file, ignored)) return;
  const json root = parse_json(read_file(file.string(), kLargestFileBeside), kFileBeside);
  if (!root.is_object()) return;
  read_quantization({{"quantization_config", root.value("quantization", json())}}, model);
}

void read_quantization(const json& config, Transformer& model) {
  const auto found = config.find("quantization_config");
  if (found == config.end() || found->empty()) return;
  const json stated = found->is_object() ? *found : json::object();  // of a text, nothing is known
  const bool mixed = lower_text(stated, "quant_algo") == "mixed_precision";
  const auto format = stored_format(stated);
  WeightFormats weights = format ? weights_in(*format) : WeightFormats{};
  if (mixed) {
    add_listed(stated.value("quantized_layers", json()), weights);
  } else if (format) {
    leave_out(stated, weights, model);
  }
  // DeepSeek-V4: the experts are in MXFP4, whatever quant_method says.
  if (!mixed && lower_text(config, "expert_dtype") == "fp4" && weights.any()) {
    weights.of(WeightKind::expert) = parse_stored_format("weights", "mxfp4");
  }
  if (!weights.any()) {
    model.warnings.emplace_back(
        "quantization_config is not understood: weights are counted in the format of the products; "
        "--weights FORMAT names theirs");
    return;
  }
  model.notes.push_back(fmt::format(
      "quantization_config: weights in {}; the products are those of --format", weights.name()));
  model.weights = std::move(weights);
}

}  // namespace ridgebench
