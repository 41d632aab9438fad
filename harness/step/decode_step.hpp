// A step of decoding: the plain layers of a transformer (roofline/transformer/plain_layer.hpp) for
// one new token in each sequence of a batch, beside a cache of keys and values. A layer is 15
// launches: norm, q, k, v, two rotations, attention, o, addition; norm, gate, up, SwiGLU, down,
// addition. `predict model` counts q, k and v as one product, and gate and up as one: they are
// several here, because rotation, attention and SwiGLU take whole tensors and no columns of one.
// A product of one sequence is a matrix-vector product, whose techniques read the weights in order.
//
// The new keys and values are results of the step. No launch copies them into the cache.
#pragma once

#include <cstdint>
#include <string>

#include "harness/step/step_program.hpp"
#include "roofline/transformer/transformer.hpp"

namespace ridgebench {

struct DecodeStep {
  std::string model;              // recorded_name(), or in messages as the user named it
  std::int64_t model_layers = 0;  // of the whole model
  std::int64_t layers = 1;        // that the step computes
  std::int64_t batch = 0;         // sequences
  std::int64_t context = 0;       // tokens of each in the cache
  std::int64_t width = 0;         // of the residual stream
  std::int64_t heads = 0;         // of queries
  std::int64_t kv_heads = 0;      // of keys and values
  std::int64_t head_dim = 0;
  std::int64_t network_width = 0;  // outputs of gate, and of up
  Format format = Format::bf16;    // of weights, cache and activations

  // Elements of the layers' products: q, k, v, o, gate, up and down.
  [[nodiscard]] double parameters() const;
  // 2 x parameters x batch, and the two products of attention, 4 b h C d a layer.
  [[nodiscard]] double model_flops() const;
};

// The sizes of a model. Throws UsageError for a model with other layers.
DecodeStep decode_step(const Transformer& model);

// Returns the name that records have: that of a built-in model, or of a config.json the model_type
// and the sizes that decide the work of a layer, which depend on no folder.
std::string recorded_name(const Transformer& model);

// Throws UsageError for more layers than the model has, sizes below 1, FLOPs beyond kLargestStep,
// too many launches, formats other than fp32, fp16 and bf16, and heads that an operation refuses.
void check(const DecodeStep& step);

// The bytes that live at each launch, in closed form, each tensor rounded up to 256 bytes. Layers
// of u = B D, q = B h d, k = B kv d and f = B F elements leave 2 k each, and e = u from the second
// on. The step must pass check().
std::vector<std::int64_t> predicted_live_bytes(const DecodeStep& step);
// The most of them: weights + cache + input + angles + 2 k L + max(e + u + q, e + 2 q, 2 u + 2 f,
// u + 3 f, 3 u) with the e of the last layer.
std::int64_t predicted_peak_bytes(const DecodeStep& step);

// The launches of the step and the lifetimes of its tensors. The step must pass check().
StepProgram decode_program(const DecodeStep& step);

}  // namespace ridgebench
