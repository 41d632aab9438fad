// The models that have plain layers only: RMSNorm, products of q, k and v without biases, a
// rotation of whole heads, attention to all tokens before, the product of the output, an addition;
// then RMSNorm, gate and up, SwiGLU, down, an addition.
#pragma once

#include <string>

#include "roofline/transformer/config_keys.hpp"
#include "roofline/transformer/transformer.hpp"

namespace ridgebench {

// Returns a line that names the first key by which a layer of the model is another one, and what is
// allowed; empty for a model of equal plain layers. `type` is the model_type; empty: the config has
// none. The model has its sizes, and the keys that change its counts were checked.
std::string why_not_plain(ConfigKeys& keys, const std::string& type, const Transformer& model);

}  // namespace ridgebench
