// The modules that a quantization_config names, and the weights of a model that they hold.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/transformer/module_names.hpp"
#include "roofline/transformer/transformer.hpp"
#include "roofline/transformer/weights.hpp"

namespace ridgebench {

// Counts the formats of a model's linear layers by layer, projection and expert. The model must
// outlive it.
class ModuleFormats {
 public:
  // `usual` has the formats of the modules that no call of `set` names.
  ModuleFormats(const Transformer& model, WeightFormats usual);

  // Gives the modules of a name (module_names.hpp) a format, or 16 bits without one. A later call
  // replaces an earlier one. False if a part of the name is not understood. True without a change
  // for modules beside the language model, small ones such as norms, and layers beyond the model's.
  bool set(std::string_view name, const std::optional<StoredFormat>& format);

  // A linear layer has the mean bytes of its parts.
  [[nodiscard]] WeightFormats formats() const;

 private:
  // A part of a linear layer: k of qkv.
  struct Part {
    WeightKind kind;
    std::string linear;
    std::vector<std::string_view> projections;
    double outputs;  // 1 for each part of a linear layer without a split
  };
  using Given = std::optional<StoredFormat>;  // empty: 16 bits
  struct Cell {
    std::optional<Given> whole;
    std::map<std::int64_t, Given> experts;
  };

  void add_parts(const Linear& linear);
  bool set_one(const ModuleName& name, const Given& format);
  bool set_in_layer(const ModuleName& name, std::int64_t layer, const Given& format);
  void set_cell(Cell& cell, const std::string& experts, const Given& format) const;
  [[nodiscard]] std::vector<WeightKind> kinds_of(ModulePart part, std::int64_t layer,
                                                 const std::string& projection) const;
  [[nodiscard]] double layers_with(WeightKind kind) const;
  [[nodiscard]] double mean_bytes(std::size_t part, MixedFormat& formats) const;

  const Transformer& model_;
  WeightFormats usual_;
  std::int64_t experts_ = 1;
  std::vector<Part> parts_;
  std::map<std::size_t, std::map<std::int64_t, Cell>> cells_;  // by part and layer
};

}  // namespace ridgebench
