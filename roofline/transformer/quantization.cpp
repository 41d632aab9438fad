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
#include "roofline/transformer/quantized_modules.hpp"
#include "roofline/transformer/read_parts.hpp"
#include "roofline/units.hpp"

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

bool has_value(const json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && !found->is_null();
}

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

// True if a group of compressed-tensors has all linear layers.
bool has_all_layers(const json& group) {
  const json targets = group.value("targets", json());
  return targets.is_null() || targets == "Linear" || targets == json::array({"Linear"});
}

// The weights of the only group; null if there are none or several, or if it has some layers only.
json only_weights(const json& config) {
  const auto groups = config.find("config_groups");
  if (groups == config.end() || !groups->is_object() || groups->size() != 1) return {};
  const json& group = *groups->begin();
  return group.is_object() && has_all_layers(group) ? group.value("weights", json()) : json();
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
  const bool mx = group == kMxGroup || format.starts_with("mxfp");
  if (floats && bits == kEight) return parse_stored_format("weights", mx ? "mxfp8" : "fp8_e4m3");
  if (floats && bits == kFour) return parse_stored_format("weights", mx ? "mxfp4" : "nvfp4");
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

// Modules by regular expressions in `dynamic` of GPTQModel: "-:" leaves them out, and other entries
// store them in a way of their own. Empty if there are such entries.
std::optional<std::vector<std::string>> left_out_dynamically(const json& config) {
  std::vector<std::string> modules;
  const json dynamic = config.value("dynamic", json());
  for (const auto& [pattern, unused] : dynamic.items()) {
    if (!pattern.starts_with("-:")) return std::nullopt;
    modules.push_back(fmt::format("re:{}", pattern.substr(2)));
  }
  return modules;
}

std::optional<StoredFormat> stored_format(const json& config) {
  if (is_sparse(config) || !left_out_dynamically(config)) return std::nullopt;
  const std::string method = lower_text(config, "quant_method");
  const std::string algorithm = lower_text(config, "quant_algo");
  for (const std::string& name : {algorithm, method}) {
    const auto found = std::ranges::find(kMethods, name, &Method::name);
    if (found != kMethods.end()) return parse_stored_format("weights", found->format);
  }
  if (method == "awq") {
    const bool zeros = !has_value(config, "zero_point") || is_true(config, "zero_point");
    const bool old = has_value(config, "w_bit") || has_value(config, "q_group_size");
    return integers_in_groups(number_of(config, old ? "w_bit" : "bits", 4),
                              number_of(config, old ? "q_group_size" : "group_size", 128), zeros);
  }
  if (method == "gptq") {
    return integers_in_groups(number_of(config, "bits", 0), number_of(config, "group_size", 128),
                              true);
  }
  if (method == "bitsandbytes") return bitsandbytes_format(config);
  return format_of_weights(only_weights(config), lower_text(config, "format"));
}

std::vector<std::string> left_out(const json& config) {
  std::vector<std::string> modules =
      left_out_dynamically(config).value_or(std::vector<std::string>{});
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

// Keys and values by kv_cache_scheme of compressed-tensors, or by kv_cache_quant_algo of ModelOpt.
void read_cache(const json& config, Transformer& model) {
  const json scheme = config.value("kv_cache_scheme", json());
  const std::string algorithm = lower_text(config, "kv_cache_quant_algo");
  if (scheme.is_null() && (algorithm.empty() || algorithm == "none")) return;
  const auto method = std::ranges::find(kMethods, algorithm, &Method::name);
  model.cache = method == kMethods.end() ? format_of_weights(scheme, "")
                                         : parse_stored_format("cache", method->format);
  model.stored_notes.push_back(
      model.cache
          ? fmt::format("quantization_config: keys and values in {}", model.cache->name)
          : std::string("quantization_config: the format of keys and values is not understood; "
                        "--cache FORMAT names it"));
}

// Names of a list that are not understood.
class Unread {
 public:
  void add(const std::string& name) {
    if (count_ == 0) first_ = name;
    ++count_;
  }
  void warn(std::string_view list, std::string_view counted_as, Transformer& model) const {
    if (count_ == 0) return;
    model.stored_warnings.push_back(fmt::format(
        "{} of those that quantization_config {} {} counted {}, the first is {}",
        counted(count_, "module"), list, count_ == 1 ? "is" : "are", counted_as, first_));
  }

 private:
  std::size_t count_ = 0;
  std::string first_;
};

// NVIDIA ModelOpt's list of modules with a format each: "W4A16_NVFP4". Other modules are in 16
// bits.
WeightFormats listed_formats(const json& modules, Transformer& model) {
  ModuleFormats formats(model, {});
  Unread unread;
  for (const auto& [name, entry] : modules.items()) {
    const std::string algorithm = entry.is_object() ? lower_text(entry, "quant_algo") : "";
    const auto method = std::ranges::find_if(
        kMethods, [&](const Method& m) { return algorithm.ends_with(m.name); });
    const bool known = method != kMethods.end() &&
                       formats.set(name, parse_stored_format("weights", method->format));
    if (!known) unread.add(name);
  }
  unread.warn("lists", "in 16 bits", model);
  return formats.formats();
}

// The modules of a list have 16 bits.
WeightFormats without(const std::vector<std::string>& modules, const WeightFormats& all,
                      Transformer& model) {
  ModuleFormats formats(model, all);
  Unread unread;
  for (const std::string& module : modules) {
    if (!formats.set(module, std::nullopt)) unread.add(module);
  }
  unread.warn("leaves out", "as quantised", model);
  return formats.formats();
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
  read_cache(stated, model);
  WeightFormats weights;
  if (lower_text(stated, "quant_algo") == "mixed_precision") {
    const json modules = stated.value("quantized_layers", json());
    if (modules.is_object()) weights = listed_formats(modules, model);
  } else if (const auto format = stored_format(stated)) {
    weights = weights_in(*format);
    if (is_true(stated, "lm_head")) weights.of(WeightKind::head) = format;
    // DeepSeek-V4: the experts are in MXFP4, whatever quant_method says.
    if (lower_text(config, "expert_dtype") == "fp4")
      weights.of(WeightKind::expert) = parse_stored_format("weights", "mxfp4");
    weights = without(left_out(stated), weights, model);
  }
  if (!weights.any()) {
    model.stored_warnings.emplace_back(
        "quantization_config is not understood: weights are counted in the format of the products; "
        "--weights FORMAT names theirs");
    return;
  }
  model.stored_notes.push_back(fmt::format(
      "quantization_config: weights in {}; the products are those of --format", weights.name()));
  model.weights = std::move(weights);
}

}  // namespace ridgebench
