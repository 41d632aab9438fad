// A decoder-only transformer by the few numbers that decide its work: layers of attention and of a
// feed-forward network, then one product with the vocabulary. They come from a Hugging Face
// config.json or from a built-in model, a JSON file in roofline/models with the same keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgebench {

// The feed-forward networks of a mixture of experts. A router sends each token to `active` of them.
struct Experts {
  std::int64_t total;
  std::int64_t active;
  std::int64_t width;         // outputs of the first product of one expert
  std::int64_t shared_width;  // of the experts that serve every token, together; 0: none
  std::int64_t layers;        // with experts; the other layers are dense
};

struct Transformer {
  std::string name;  // as on the command line
  std::int64_t layers;
  std::int64_t width;  // of the residual stream: hidden_size
  std::int64_t heads;
  std::int64_t kv_heads;  // fewer than `heads` in grouped-query attention
  std::int64_t head_dim;
  std::int64_t feed_forward;  // width of a dense layer's network; 0 where all layers have experts
  std::int64_t vocabulary;
  std::int64_t positions = 0;  // rows of a learned position embedding
  bool gated = true;           // SwiGLU: a gate beside the first product
  bool tied = false;           // lm_head shares its weights with the embedding
  std::optional<Experts> experts = std::nullopt;
  std::string source = {};              // of a built-in model's numbers
  std::int64_t longest_context = 0;     // tokens that its config allows; 0: it does not say
  std::vector<std::string> notes = {};  // what the numbers leave out
};

// Name of the linear layer that follows all others: the product with the vocabulary.
inline constexpr std::string_view kHead = "lm_head";

// A linear layer: outputs = weights[outputs, inputs] x inputs.
struct Linear {
  std::string_view name;  // qkv, o, gate_up, up, down, lm_head; of experts: expert_..., shared_...
  std::int64_t outputs;
  std::int64_t inputs;
  std::int64_t layers;       // that have it
  std::int64_t experts = 1;  // weights in each of these layers
  std::int64_t active = 1;   // weights that a token meets

  [[nodiscard]] double parameters() const;
  [[nodiscard]] double active_parameters() const;
};

// Returns the linear layers in the order of the forward pass. q, k and v are one product, and so
// are gate and up.
std::vector<Linear> linear_layers(const Transformer& model);

// The parameters of the linear layers and of the embeddings. Norms, biases and routers are not
// counted: they are 0.1 % of gpt-2, and less of larger models.
double parameters(const Transformer& model);
// Those that one token meets.
double active_parameters(const Transformer& model);

// Elements of keys and values that one token adds to the cache of all layers.
double cached_elements(const Transformer& model);

// Reads the text of a config.json. The model is named `origin`, and every message starts with it.
// Throws UsageError if the text is malformed, if keys are missing, or if the model has layers of
// another kind.
Transformer parse_transformer(std::string_view text, const std::string& origin);

// Returns the model of a config.json's path or of a built-in name. Throws UsageError.
Transformer open_transformer(const std::string& config);

// Returns the names of the built-in models: "gpt-2, gpt-2-xl, ...".
std::string transformer_names();

}  // namespace ridgebench
