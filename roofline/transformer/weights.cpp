#include "roofline/transformer/weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/common/enum_names.hpp"
#include "kernels/common/error.hpp"
#include "roofline/fp4.hpp"

namespace ridgebench {
namespace {

constexpr double kBitsPerByte = 8;
constexpr int kUsualBits = 4;
constexpr double kUsualGroup = 128;  // of AWQ and GPTQ

// MXFP8: as MXFP4, with elements of 8 bits (OCP Microscaling Formats v1.0).
constexpr double kMxBlock = 32;

struct Beginning {
  std::string_view text;
  WeightKind kind;
};
constexpr std::array kBeginnings{
    Beginning{"expert_", WeightKind::expert},     Beginning{"shared_", WeightKind::shared},
    Beginning{"latent_", WeightKind::expert},     Beginning{"linear_", WeightKind::recurrence},
    Beginning{"mamba_", WeightKind::recurrence},  Beginning{"gate_up", WeightKind::dense},
    Beginning{"up", WeightKind::dense},           Beginning{"down", WeightKind::dense},
    Beginning{"q", WeightKind::attention},        Beginning{"o", WeightKind::attention},
    Beginning{"kv", WeightKind::attention},       Beginning{"index_", WeightKind::attention},
    Beginning{"compress", WeightKind::attention}, Beginning{"lm_head", WeightKind::head}};

}  // namespace

StoredFormat parse_stored_format(std::string_view option, std::string_view name) {
  if (const Fp4Blocks* const fp4 = fp4_blocks(name)) {
    return {std::string(fp4->name), Fp4::element_bytes, Fp4::scale_bytes, fp4->block};
  }
  if (name == "int4") return grouped_format(kUsualBits, kUsualGroup, false);
  if (name == "mxfp8") return {"mxfp8", 1, 1, kMxBlock};
  std::vector<std::string_view> allowed;
  for (const FormatInfo& f : kFormats) {
    if (f.name == name || (name == "fp8" && f.format == Format::fp8_e4m3)) {
      return {std::string(f.name), static_cast<double>(f.storage_bytes)};
    }
    allowed.push_back(f.name);
  }
  allowed.insert(allowed.end(), {"fp8 (= fp8_e4m3)", "mxfp8", "int4", "fp4 (= nvfp4)", "mxfp4"});
  throw UsageError(fmt::format("{} is '{}'; allowed: {}", option, name, join_names(allowed)));
}

StoredFormat grouped_format(int bits, double group, bool zeros) {
  constexpr double kScaleBits = 16;
  return {fmt::format("int{}", bits), bits / kBitsPerByte,
          (kScaleBits + (zeros ? bits : 0)) / kBitsPerByte, group};
}

WeightKind weight_kind(std::string_view linear) {
  const auto found = std::ranges::find_if(
      kBeginnings, [&](const Beginning& b) { return linear.starts_with(b.text); });
  return found == kBeginnings.end() ? WeightKind::other : found->kind;
}

bool WeightFormats::any() const {
  return !mixed.empty() ||
         std::ranges::any_of(formats, [](const auto& format) { return format.has_value(); });
}

std::string WeightFormats::name() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const auto& format : formats) {
    if (format) add(format->name);
  }
  for (const auto& [linear, format] : mixed) std::ranges::for_each(format.names, add);
  return fmt::format("{}", fmt::join(names, ", "));
}

double WeightFormats::bytes(std::string_view linear, Format usual) const {
  if (const auto found = mixed.find(linear); found != mixed.end())
    return found->second.bytes_per_value;
  const auto& format = formats.at(static_cast<std::size_t>(weight_kind(linear)));
  return format ? format->bytes_per_value() : other_bytes(usual);
}

double WeightFormats::other_bytes(Format usual) const {
  return any() ? kSixteenBitBytes : info(usual).storage_bytes;
}

WeightFormats weights_in(const StoredFormat& format) {
  WeightFormats weights;
  weights.formats.fill(format);
  weights.of(WeightKind::head).reset();
  return weights;
}

}  // namespace ridgebench
