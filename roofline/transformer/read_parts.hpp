// The parts of a model, read from a config.json.
#pragma once

#include "roofline/transformer/config_keys.hpp"
#include "roofline/transformer/layer_plan.hpp"
#include "roofline/transformer/transformer.hpp"

namespace ridgebench {

// Each adds a part to `model`, whose `width` is set. They throw UsageError.
void read_attentions(ConfigKeys& keys, const LayerPlan& plan, Transformer& model);
void read_recurrences(ConfigKeys& keys, const LayerPlan& plan, Transformer& model);
// Gated, by the family.
void read_networks(ConfigKeys& keys, const LayerPlan& plan, bool gated, Transformer& model);
// Embeddings of positions and of layers, and products around them.
void read_embeddings(ConfigKeys& keys, Transformer& model);

// Reads the weights' format from `quantization_config`; a note or a warning if it has one.
void read_quantization(const nlohmann::json& config, Transformer& model);

// The same by the file hf_quant_config.json of NVIDIA ModelOpt beside a config.json that lacks it.
void read_quantization_beside(const std::string& path, Transformer& model);

// Compares the counts with the size in the path of a config.json and with
// model.safetensors.index.json beside it; a difference is a warning.
void compare_sizes(const std::string& path, Transformer& model);

}  // namespace ridgebench
