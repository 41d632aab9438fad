// A decoder-only transformer by the numbers that decide its work: layers that mix tokens, by
// attention or by a recurrence, layers of feed-forward networks, then one product with the
// vocabulary. They come from a Hugging Face config.json or from a built-in model, a JSON file in
// roofline/models with the same keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/transformer/weights.hpp"

namespace ridgebench {

// Latent attention keeps one short vector a token instead of keys and values of all heads, and
// makes them from it (DeepSeek-AI, arXiv 2405.04434, section 2.1).
struct Latent {
  std::int64_t rank;        // of keys and values: kv_lora_rank
  std::int64_t rotated;     // elements of a key that all heads share: qk_rope_head_dim
  std::int64_t query_rank;  // 0: queries have one product
};

// An indexer that chooses the keys which a query meets (DeepSeek-AI, DeepSeek-V3.2, section 2.1).
struct Indexer {
  std::int64_t heads;
  std::int64_t head_dim;
  std::int64_t chosen;  // keys
};

// Attention to one vector a token, which is key and value of all heads, and to vectors of `rate`
// tokens each beside a window (DeepSeek-AI, DeepSeek-V4). A layer with an indexer makes two such
// vectors, of which the second overlaps.
struct Compressed {
  std::int64_t query_rank;
  std::int64_t rate;           // 0: the window only
  std::int64_t output_groups;  // the output has a product for each group of heads, and one for all
  std::int64_t output_rank;    // outputs of a group
};

// Attentions of equal sizes.
struct Attention {
  std::int64_t layers;
  std::int64_t heads;
  std::int64_t kv_heads;         // fewer than `heads` in grouped-query attention
  std::int64_t head_dim;         // of queries and keys
  std::int64_t value_dim;        // of values and outputs
  std::int64_t window = 0;       // the most keys that a query meets; 0: all before it
  bool chunked = false;          // it meets the keys of its own chunk of `window` tokens
  bool output_gate = false;      // queries have as many outputs again, which gate the output
  bool values_are_keys = false;  // one product makes both
  bool borrows = false;          // keys and values of an earlier layer
  std::optional<Latent> latent = std::nullopt;
  std::optional<Indexer> indexer = std::nullopt;
  std::optional<Compressed> compressed = std::nullopt;

  // Elements that a token adds to the cache of one layer.
  [[nodiscard]] double cached() const;
  // Elements in that cache after `context` tokens.
  [[nodiscard]] double cached(std::int64_t context) const;
};

// A layer that keeps a state of fixed size in place of keys and values: a state-space layer or
// linear attention.
struct Recurrence {
  std::int64_t layers;
  std::int64_t state;         // elements of a sequence in one layer, in fp32
  std::int64_t passed;        // elements that a token reads and writes beside the state
  double flops_per_token;     // of the recurrence, one token after another
  bool in_attention = false;  // files name its module as that of attention
};

// Equal feed-forward networks. Of `experts` a router sends each token to `active`.
struct Network {
  std::string_view prefix;  // of the names of its products: "", "expert_" or "shared_"
  std::int64_t layers;
  std::int64_t width;  // outputs of the first product
  bool gated = true;   // SwiGLU: a gate beside the first product
  std::int64_t experts = 1;
  std::int64_t active = 1;
  std::int64_t inputs = 0;  // 0: the width of the residual stream
};

// A linear layer: outputs = weights[outputs, inputs] x inputs.
struct Linear {
  std::string name;  // qkv, o, gate_up, up, down, lm_head; of experts: expert_..., shared_...
  std::int64_t outputs;
  std::int64_t inputs;
  std::int64_t layers;       // that have it
  std::int64_t experts = 1;  // weights in each of these layers
  std::int64_t active = 1;   // weights that a token meets
  // Outputs of the products that may compute it one after another: q, k and v, or gate and up.
  std::vector<std::int64_t> split = {};

  [[nodiscard]] double parameters() const;
  [[nodiscard]] double active_parameters() const;
};

struct Transformer {
  std::string name;       // as on the command line
  std::string type = {};  // model_type; empty: the config has none
  bool built_in = false;
  std::int64_t layers;
  std::int64_t width;  // of the residual stream: hidden_size
  std::int64_t vocabulary;
  std::vector<Attention> attentions = {};
  std::vector<Recurrence> recurrences = {};
  std::vector<Network> networks = {};
  std::vector<std::vector<WeightKind>> layer_kinds = {};  // of the modules of each layer
  std::vector<Linear> others = {};   // further linear layers, those of recurrences among them
  std::int64_t positions = 0;        // rows of a learned position embedding
  std::int64_t embedding_width = 0;  // of a token, if it is not `width`
  double more_parameters = 0;  // that no product of linear_layers meets: routers, convolutions
  bool tied = false;           // lm_head shares its weights with the embedding
  WeightFormats weights = {};  // what quantization_config says
  std::optional<StoredFormat> cache = std::nullopt;  // likewise
  std::string source = {};                           // of a built-in model's numbers
  std::int64_t longest_context = 0;        // tokens that its config allows; 0: it does not say
  std::vector<std::string> warnings = {};  // why the numbers may be wrong
  // The same and notes of `weights` and `cache`, which only inference takes.
  std::vector<std::string> stored_warnings = {};
  std::vector<std::string> stored_notes = {};
  std::vector<std::string> notes = {};  // what the numbers leave out
  std::string not_plain =
      {};  // why its layers are no plain ones (plain_layer.hpp); empty: they are
};

// Name of the linear layer that follows all others: the product with the vocabulary.
inline constexpr std::string_view kHead = "lm_head";

// Returns the linear layers in the order of the forward pass. q, k and v are one product, and so
// are gate and up. Layers of equal name and size are one entry.
std::vector<Linear> linear_layers(const Transformer& model);

// The parameters of the linear layers, the embeddings, routers and convolutions. Norms and biases
// are not counted: they are 0.1 % of gpt-2, and less of larger models.
double parameters(const Transformer& model);
// Those that one token meets.
double active_parameters(const Transformer& model);

// The bytes of all weights: those of linear layers in `weights`, or else in `usual`.
double weights_bytes(const Transformer& model, const WeightFormats& weights, Format usual);

// Elements of keys and values that one token adds to the cache of all layers.
double cached_elements(const Transformer& model);
// Elements of the cache of one sequence of `context` tokens. A layer with a window keeps no more
// tokens than that.
double cached_elements(const Transformer& model, std::int64_t context);
// Elements of the states of all recurrences for one sequence.
double state_elements(const Transformer& model);

// Says that a context is longer than the config allows; empty if it is not.
std::string context_note(const Transformer& model, double context);

// Reads the text of a config.json. The model is named `origin`, and every message starts with it.
// Throws UsageError if the text is malformed, if keys are missing, or if the model has layers of
// another kind.
Transformer parse_transformer(std::string_view text, const std::string& origin);

// Returns the model of a config.json's path or of a built-in name. The sizes in the path and in
// model.safetensors.index.json beside the file are compared with the counts, and a difference is a
// warning. Throws UsageError.
Transformer open_transformer(const std::string& config);

// Returns the names of the built-in models: "gpt-2, gpt-2-xl, ...".
std::string transformer_names();

}  // namespace ridgebench
