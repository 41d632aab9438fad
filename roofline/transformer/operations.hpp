// The matrix products and the attention of a transformer, with their work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/operation.hpp"
#include "roofline/model.hpp"
#include "roofline/transformer/transformer.hpp"

namespace ridgebench {

// The most tokens of one pass, so that sizes stay within those of a Shape.
inline constexpr double kMostTokens = kLargestSize;

// prefill reads a prompt, decode writes one token for each sequence, and training does the forward
// and the backward pass of whole sequences.
enum class Phase : std::uint8_t { prefill, decode, training };
constexpr auto names_of(Phase) { return enum_names("phase", "prefill", "decode", "training"); }

// The backward pass of a linear layer is two products: dX, the gradient of its inputs, and dW, the
// gradient of its weights. The optimizer's step follows both passes.
enum class Pass : std::uint8_t { forward, backward, dx, dw, step };
constexpr auto names_of(Pass) {
  return enum_names("pass", "forward", "backward", "dX", "dW", "step");
}

// Prefill and training compute all tokens of each sequence, decode the last one.
struct Sequences {
  std::int64_t count;
  std::int64_t context;  // tokens of each
};

// `products` equal matrix products in each of `layers` layers. Of Y[T,N] = X[T,K] W[N,K]^T the
// forward pass has layout nt, dX = dY W has nn, and dW = dY^T X has tn (kernels/common/shape.hpp).
struct LinearProduct {
  std::string name;
  Pass pass;
  Shape shape;
  std::int64_t layers;
  std::int64_t products;  // more than 1: experts
  // Of a forward product: those that may compute it one after another, as Linear::split.
  std::vector<Shape> split = {};
};

// Returns the products of a pass over `tokens` tokens. Experts share them evenly: of the experts
// that a token meets, none gets two tokens more than another, and as many experts as possible get
// one. If the tokens do not divide, an expert layer has two entries. `head_tokens` is the number of
// tokens whose next token is wanted. `matmul` is the operation of the registry. Throws UsageError
// if a product is too large for a Shape.
std::vector<LinearProduct> linear_products(const Operation& matmul, const Transformer& model,
                                           std::int64_t tokens, std::int64_t head_tokens,
                                           bool training);

// Work beside the linear layers, in each of `layers` places. `written_bytes` are part of its bytes.
struct LayerWork {
  std::string name;
  Pass pass;
  std::int64_t layers;
  Work work;
  double written_bytes;
  double special_results = 0;  // of the special-function units
};

// Operations of a layer on several tokens at once, in each of `layers` layers. Attention has two
// products, scores = Q K^T and values = softmax(scores) V. A fused kernel keeps scores on the chip
// (Dao et al., arXiv 2205.14135), so that the traffic is Q, K, V, the output and, backward, their
// gradients. A causal mask halves the products of whole sequences, and a window limits the keys of
// a query. Latent attention reads the short vectors of the cache once when it decodes, and
// multiplies queries and outputs by kv_b instead. A recurrence is one row, `state`, and an indexer
// another, `index`. The names are scores, values, local_scores, local_values, index and state.
//
// `cache_bytes` are those of an element of keys and values in the cache, and `format` is that of
// queries, outputs and of keys that no cache holds. Recomputed scores do not count as FLOPs.
std::vector<LayerWork> mixing_products(const Transformer& model, Phase phase,
                                       const Sequences& sequences, Format format,
                                       double cache_bytes);

// The shape of the operation attention_decode that computes scores and values of one layer in one
// kernel when it decodes, with a window's tokens at most. Empty where that operation computes
// something else: latent or compressed vectors, chosen keys, values of another size than keys.
std::optional<Shape> attention_decode_shape(const Attention& attention, const Sequences& sequences);

// Prefix of the names of an attention's work: "local_" if a window limits its keys.
std::string_view mixing_prefix(const Attention& attention);

// Pairs of a query and a key, of all heads of a layer, that the mask leaves in training.
double training_pairs(const Attention& attention, const Sequences& sequences);

// Bytes of an element of a recurrence's state: fp32.
inline constexpr double kStateElementBytes = 4;

// Returns the products of these passes as lines of a file of shapes, without duplicates:
// "matmul m:2048/n:28672/k:4096/layout:nt". lm_head serves all tokens. Throws UsageError.
std::vector<std::string> product_lines(const Operation& matmul, const Transformer& model,
                                       const std::vector<std::int64_t>& tokens, bool training);

}  // namespace ridgebench
