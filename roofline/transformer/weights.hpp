// The formats in which weights and caches are stored, those below 8 bits among them, and what a
// config.json's quantization_config says of a model's weights.
#pragma once

#include <optional>
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
inline constexpr int kWeightKinds = 7;

// Returns the kind of a linear layer by its name in linear_layers.
WeightKind weight_kind(std::string_view linear);

// Empty: all weights have the format of the products. Else the parts in `quantised` are stored in
// `format`, and the others and the embeddings in 16 bits.
struct WeightFormats {
  std::optional<StoredFormat> format = std::nullopt;
  unsigned quantised = 0;  // a bit for each WeightKind

  [[nodiscard]] bool covers(WeightKind kind) const {
    return format && (quantised >> static_cast<unsigned>(kind) & 1U) != 0;
  }
  // Bytes of a weight, in a model whose products have the format `usual`.
  [[nodiscard]] double bytes(WeightKind kind, Format usual) const;
  // The same of an embedding.
  [[nodiscard]] double other_bytes(Format usual) const;
};

// `format` for all linear layers but lm_head, which quantised files leave in 16 bits.
WeightFormats weights_in(StoredFormat format);

}  // namespace ridgebench
