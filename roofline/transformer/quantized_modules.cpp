#include "roofline/transformer/quantized_modules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "roofline/transformer/families.hpp"

namespace ridgebench {
namespace {

// Modules beside the language model, some of which have names like its own; and small ones.
constexpr std::array<std::string_view, 8> kOtherModules{
    "*vision*", "*visual*",       "*multi_modal*", "*audio*",
    "*mtp*",    "*mm_projector*", "*patch_merge*", "*index*"};
constexpr std::array<std::string_view, 9> kSmallModules{
    "*norm*", "gate", "*_gate", "*router*", "*embed*", "*bias", "*conv1d*", "*proj_a*", "*proj_b*"};

// The names of the projections that a part of a linear layer may have in files.
struct PartNames {
  std::string_view linear;  // without "expert_"
  std::vector<std::string_view> projections;
};
const std::vector<PartNames>& part_names() {
  static const std::vector<PartNames> kNames{
      {"qkv", {"q_proj", "wq", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack"}},
      {"qkv", {"k_proj", "wk", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack"}},
      {"qkv", {"v_proj", "wv", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack"}},
      {"q", {"q_proj", "wq"}},
      {"q_a", {"q_a_proj", "wq_a"}},
      {"q_b", {"q_b_proj", "wq_b"}},
      {"kv", {"wkv"}},
      {"kv_a", {"kv_a_proj_with_mqa", "wkv_a"}},
      {"kv_b", {"kv_b_proj", "wkv_b"}},
      {"o", {"o_proj", "wo", "out_proj", "dense", "c_proj"}},
      {"o_a", {"wo_a", "o_a_proj"}},
      {"o_b", {"wo_b", "o_b_proj"}},
      {"gate_up", {"gate_proj", "w1", "gate_up_proj"}},
      {"gate_up", {"up_proj", "w3", "gate_up_proj"}},
      {"up", {"up_proj", "fc1", "c_fc", "w1", "dense_h_to_4h"}},
      {"down", {"down_proj", "w2", "fc2", "c_proj", "dense_4h_to_h"}},
      {"linear_in", {"in_proj_qkv", "in_proj_qkvz", "in_proj"}},
      {"linear_in", {"in_proj_z", "in_proj_qkvz", "in_proj"}},
      {"linear_in", {"in_proj_b", "in_proj_ba", "in_proj"}},
      {"linear_in", {"in_proj_a", "in_proj_ba", "in_proj"}},
      {"linear_out", {"out_proj"}},
      {"mamba_in", {"in_proj"}},
      {"mamba_out", {"out_proj"}}};
  return kNames;
}

template <std::size_t N>
bool fits_one_of(std::string_view name, const std::array<std::string_view, N>& patterns) {
  return std::ranges::any_of(patterns, [&](auto pattern) { return fits_pattern(name, pattern); });
}

std::string_view without_prefix(std::string_view linear) {
  for (const std::string_view prefix : {"expert_", "shared_"}) {
    if (linear.starts_with(prefix)) linear.remove_prefix(prefix.size());
  }
  return linear;
}

// Kimi Linear and MiniMax-01 name a recurrence as other models name attention.
bool recurrence_in_attention(const Transformer& model) {
  return std::ranges::any_of(model.recurrences, &Recurrence::in_attention);
}

bool is_pattern(std::string_view text) { return text.find('*') != std::string_view::npos; }

// Empty for a text that is not a number.
std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

// The numbers below `count` that a pattern fits; empty fits all.
std::vector<std::int64_t> numbers_of(const std::string& pattern, std::int64_t count) {
  std::vector<std::int64_t> numbers;
  if (!pattern.empty() && !is_pattern(pattern)) {
    const auto number = number_in(pattern);
    if (number && *number < count) numbers.push_back(*number);
    return numbers;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (pattern.empty() || fits_pattern(std::to_string(i), pattern)) numbers.push_back(i);
  }
  return numbers;
}

bool has_projection(const std::vector<std::string_view>& projections, const std::string& pattern) {
  return std::ranges::any_of(projections, [&](auto name) { return fits_pattern(name, pattern); });
}

}  // namespace

ModuleFormats::ModuleFormats(const Transformer& model, WeightFormats usual)
    : model_(model), usual_(std::move(usual)) {
  for (const Network& n : model.networks) experts_ = std::max(experts_, n.experts);
  for (const Linear& linear : linear_layers(model)) add_parts(linear);
}

void ModuleFormats::add_parts(const Linear& linear) {
  if (std::ranges::find(parts_, linear.name, &Part::linear) != parts_.end()) return;
  std::vector<Part> parts;
  for (const PartNames& names : part_names()) {
    if (names.linear != without_prefix(linear.name)) continue;
    parts.push_back({weight_kind(linear.name), linear.name, names.projections, 1});
  }
  if (parts.empty()) parts.push_back({weight_kind(linear.name), linear.name, {}, 1});
  // Keys that are values have no projection of their own.
  if (!linear.split.empty()) parts.resize(std::min(parts.size(), linear.split.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!linear.split.empty()) parts[i].outputs = static_cast<double>(linear.split[i]);
    parts_.push_back(parts[i]);
  }
}

bool ModuleFormats::set(std::string_view name, const std::optional<StoredFormat>& format) {
  if (fits_one_of(name, kOtherModules)) return true;
  const std::vector<ModuleName> names = parse_module_names(name);
  bool known = !names.empty();
  for (const ModuleName& one : names) known = known && set_one(one, format);
  return known || fits_one_of(last_part(name), kSmallModules);
}

bool ModuleFormats::set_one(const ModuleName& name, const Given& format) {
  if (name.parts.empty()) return false;
  const bool head = name.parts.contains(ModulePart::head);
  if (head && name.layer.empty()) return name.parts.size() == 1 && set_in_layer(name, 0, format);
  const std::vector<std::int64_t> layers = numbers_of(name.layer, model_.layers);
  if (head) return layers.empty();  // of a layer that predicts a further token
  bool any = false;
  for (const std::int64_t layer : layers) any = set_in_layer(name, layer, format) || any;
  return any || layers.empty() || name.projection.empty();
}

// False without such a module in the layer.
bool ModuleFormats::set_in_layer(const ModuleName& name, std::int64_t layer, const Given& format) {
  std::set<WeightKind> kinds;
  for (const ModulePart part : name.parts) {
    for (const WeightKind kind : kinds_of(part, layer, name.projection)) kinds.insert(kind);
  }
  bool any = false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const bool named = name.projection.empty() || has_projection(part.projections, name.projection);
    if (!kinds.contains(part.kind) || !named) continue;
    set_cell(cells_[i][layer], name.expert, format);
    any = true;
  }
  return any;
}

void ModuleFormats::set_cell(Cell& cell, const std::string& experts, const Given& format) const {
  if (experts.empty() || experts == "*") {
    cell = {.whole = format, .experts = {}};
    return;
  }
  for (const std::int64_t expert : numbers_of(experts, experts_)) cell.experts[expert] = format;
}

// A projection beside the experts, "mlp.down_proj", is none of theirs.
std::vector<WeightKind> ModuleFormats::kinds_of(ModulePart part, std::int64_t layer,
                                                const std::string& projection) const {
  if (part == ModulePart::head) return {WeightKind::head};
  const std::vector<WeightKind>& all = model_.layer_kinds.at(static_cast<std::size_t>(layer));
  if (part == ModulePart::all) return all;
  const bool dense = std::ranges::find(all, WeightKind::dense) != all.end();
  std::vector<WeightKind> wanted;
  switch (part) {
    case ModulePart::attention:
      wanted = {WeightKind::attention};
      if (recurrence_in_attention(model_)) wanted.push_back(WeightKind::recurrence);
      break;
    case ModulePart::network:
      if (dense || !projection.empty()) {
        wanted = {WeightKind::dense};
      } else {
        wanted = {WeightKind::expert, WeightKind::shared};
      }
      break;
    case ModulePart::recurrence:
      wanted = {WeightKind::recurrence};
      break;
    case ModulePart::expert:
      wanted = {WeightKind::expert};
      break;
    default:
      wanted = {WeightKind::shared};
  }
  std::erase_if(wanted, [&](WeightKind k) { return std::ranges::find(all, k) == all.end(); });
  return wanted;
}

double ModuleFormats::layers_with(WeightKind kind) const {
  if (kind == WeightKind::head) return 1;
  return static_cast<double>(std::ranges::count_if(model_.layer_kinds, [&](const auto& kinds) {
    return std::ranges::find(kinds, kind) != kinds.end();
  }));
}

// Adds the names of the formats of a part, and returns the mean bytes of a value in it.
double ModuleFormats::mean_bytes(std::size_t part, MixedFormat& formats) const {
  const WeightKind kind = parts_[part].kind;
  const auto bytes_of_value = [&](const Given& given) {
    if (given) formats.names.insert(given->name);
    return given ? given->bytes_per_value() : kSixteenBitBytes;
  };
  const Given& usual = usual_.formats.at(static_cast<std::size_t>(kind));
  const double experts = kind == WeightKind::expert ? static_cast<double>(experts_) : 1;
  const double layers = layers_with(kind);
  double rest = layers;
  double sum = 0;
  if (const auto found = cells_.find(part); found != cells_.end()) {
    rest -= static_cast<double>(found->second.size());
    for (const auto& [layer, cell] : found->second) {
      const double others = experts - static_cast<double>(cell.experts.size());
      if (others > 0) sum += others / experts * bytes_of_value(cell.whole.value_or(usual));
      for (const auto& [expert, format] : cell.experts) sum += bytes_of_value(format) / experts;
    }
  }
  if (rest > 0) sum += rest * bytes_of_value(usual);
  return sum / layers;
}

WeightFormats ModuleFormats::formats() const {
  std::set<WeightKind> given;
  for (const auto& [part, layers] : cells_) given.insert(parts_[part].kind);
  WeightFormats result = usual_;
  for (const WeightKind kind : given) {
    std::map<std::string, MixedFormat, std::less<>> linears;
    std::map<std::string, double> outputs;
    bool any = false;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].kind != kind) continue;
      MixedFormat& linear = linears[parts_[i].linear];
      linear.bytes_per_value += parts_[i].outputs * mean_bytes(i, linear);
      outputs[parts_[i].linear] += parts_[i].outputs;
      any = any || !linear.names.empty();
    }
    for (auto& [name, linear] : linears) linear.bytes_per_value /= outputs[name];
    result.of(kind).reset();
    if (any) result.mixed.merge(linears);
  }
  return result;
}

}  // namespace ridgebench
