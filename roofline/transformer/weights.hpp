// The formats in which weights and caches are stored, those below 8 bits among them, and what a
// config.json's quantization_config says of a model's weights.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kernels/common/format.hpp"

namespace ridgebench {

// `block` values share `scale_bytes`, their scale and further numbers; 0: no scales.
struct StoredFormat {
  std::string name;
  double element_bytes;
  double scale_bytes = 0;
  double block = 0;

  [[nodiscard]] double bytes_per_value() const {
    return element_bytes + (block > 0 ? scale_bytes / block : 0);
  }
};

// Returns a format of kernels/common/format.hpp, or one that is only stored: mxfp8, int4, nvfp4 and
// mxfp4. Throws UsageError "<option> is '<name>'; allowed: ...".
StoredFormat parse_stored_format(std::string_view option, std::string_view name);

// Whole numbers of `bits`, of which `group` share a scale of 16 bits and, if `zeros`, a zero point
// of `bits` (Frantar et al., arXiv 2210.17323; Lin et al., arXiv 2306.00978).
StoredFormat grouped_format(int bits, double group, bool zeros);

// The parts of a model whose weights a quantised file may leave in 16 bits.
enum class WeightKind : std::uint8_t { attention, recurrence, dense, expert, shared, other, head };
inline constexpr std::size_t kWeightKinds = 7;

// Returns the kind of a linear layer by its name in linear_layers.
WeightKind weight_kind(std::string_view linear);

inline constexpr double kSixteenBitBytes = 2;

// A linear layer of which some layers, projections or experts have a format of their own.
struct MixedFormat {
  double bytes_per_value = 0;        // the mean
  std::set<std::string> names = {};  // of the formats beside 16 bits
};

// The formats of a model's weights by kind, or by the name of a linear layer in linear_layers,
// which counts first. Without any, all weights have the format of the products. Else what has none,
// and the embeddings, take 16 bits.
struct WeightFormats {
  std::array<std::optional<StoredFormat>, kWeightKinds> formats = {};
  std::map<std::string, MixedFormat, std::less<>> mixed = {};

  [[nodiscard]] bool any() const;
  // "nvfp4", "fp8_e4m3, nvfp4"; empty without any.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::optional<StoredFormat>& of(WeightKind kind) {
    return formats.at(static_cast<std::size_t>(kind));
  }
  // Bytes of a weight of a linear layer, in a model whose products have the format `usual`.
  [[nodiscard]] double bytes(std::string_view linear, Format usual) const;
  // The same of an embedding.
  [[nodiscard]] double other_bytes(Format usual) const;
};

// `format` for all linear layers but lm_head, which quantised files leave in 16 bits.
WeightFormats weights_in(const StoredFormat& format);

}  // namespace ridgebench
