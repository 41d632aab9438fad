// The launches of a decode step in their order, and when its tensors live.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "harness/step/decode_step.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

constexpr const char* kOutput = "output";

class DecodeBuilder {
 public:
  explicit DecodeBuilder(const DecodeStep& step) : step_(step) {}

  StepProgram build() {
    input_ = state("x", "input", step_.batch * step_.width, 1);
    angles_ = program_.allocate({.name = "angles",
                                 .kind = "input",
                                 .elements = step_.batch * step_.head_dim,
                                 .format = Format::fp32,
                                 .values = uniform(-1, 1),
                                 .stream = stream_++});
    for (std::int64_t l = 0; l < step_.layers; ++l) layers_.push_back(layer_state(l));
    TensorId x = input_;
    for (std::int64_t l = 0; l < step_.layers; ++l) x = network(l, attention(l, x));
    return std::move(program_);
  }

 private:
  // The tensors that a layer keeps from step to step.
  struct Layer {
    TensorId attention_norm;
    TensorId q, k, v, o;
    TensorId keys, values;  // the cache
    TensorId network_norm;
    TensorId gate, up, down;
  };

  [[nodiscard]] std::int64_t queries() const { return step_.heads * step_.head_dim; }
  [[nodiscard]] std::int64_t keys() const { return step_.kv_heads * step_.head_dim; }

  TensorId state(const std::string& name, const char* kind, std::int64_t elements,
                 double deviation) {
    return program_.allocate({.name = name,
                              .kind = kind,
                              .elements = elements,
                              .format = step_.format,
                              .deviation = deviation,
                              .stream = stream_++});
  }
  // Weights of a product: its outputs have the variance of its inputs.
  TensorId weights(const char* name, std::int64_t l, std::int64_t outputs, std::int64_t inputs) {
    return state(fmt::format("W{}{}", name, l + 1), "parameters", outputs * inputs,
                 1 / std::sqrt(static_cast<double>(inputs)));
  }
  TensorId norm_weights(const char* name, std::int64_t l) {
    return program_.allocate({.name = fmt::format("{}{}", name, l + 1),
                              .kind = "parameters",
                              .elements = step_.width,
                              .format = step_.format,
                              .values = uniform(0.5, 1.5),
                              .stream = stream_++});
  }

  Layer layer_state(std::int64_t l) {
    const std::int64_t d = step_.width;
    const std::int64_t cached = step_.batch * keys() * step_.context;
    Layer layer{};
    layer.attention_norm = norm_weights("attention norm", l);
    layer.q = weights("q", l, queries(), d);
    layer.k = weights("k", l, keys(), d);
    layer.v = weights("v", l, keys(), d);
    layer.o = weights("o", l, d, queries());
    layer.keys = state(fmt::format("K{}", l + 1), "cache", cached, 1);
    layer.values = state(fmt::format("V{}", l + 1), "cache", cached, 1);
    layer.network_norm = norm_weights("network norm", l);
    layer.gate = weights("gate", l, step_.network_width, d);
    layer.up = weights("up", l, step_.network_width, d);
    layer.down = weights("down", l, d, step_.network_width);
    return layer;
  }

  TensorId made(const std::string& name, std::int64_t elements, const char* kind = "activations") {
    return program_.allocate(
        {.name = name, .kind = kind, .elements = elements, .format = step_.format});
  }
  void launch(const char* name, const char* phase, const char* operation, const std::string& shape,
              std::vector<std::pair<std::string, TensorId>> operands) {
    program_.launch({name, phase, operation,
                     parse_shape(shape, Registry::instance().operation(operation)), step_.format,
                     std::move(operands)});
  }
  TensorId product(const char* name, const char* phase, TensorId in, TensorId weights,
                   std::int64_t outputs, std::int64_t inputs, const char* kind = "activations") {
    const TensorId out = made(name, step_.batch * outputs, kind);
    if (step_.batch == 1) {
      launch(name, phase, "matvec", fmt::format("m:{}/n:{}", outputs, inputs),
             {{"a", weights}, {"x", in}, {"y", out}});
      return out;
    }
    launch(name, phase, "matmul",
           fmt::format("m:{}/n:{}/k:{}/layout:nt", step_.batch, outputs, inputs),
           {{"a", in}, {"b", weights}, {"c", out}});
    return out;
  }
  TensorId norm(const char* phase, TensorId x, TensorId weights) {
    const TensorId y = made("norm", step_.batch * step_.width);
    launch("norm", phase, "rmsnorm", fmt::format("m:{}/n:{}", step_.batch, step_.width),
           {{"x", x}, {"w", weights}, {"y", y}});
    return y;
  }
  TensorId rotated(const char* name, TensorId x, std::int64_t heads, const char* kind) {
    const TensorId y = made(name, step_.batch * heads * step_.head_dim, kind);
    launch(name, "attention", "rope",
           fmt::format("b:1/s:{}/h:{}/d:{}", step_.batch, heads, step_.head_dim),
           {{"x", x}, {"table", angles_}, {"y", y}});
    program_.free(x);
    return y;
  }
  // Adds a half of a layer to the residual stream, and frees both.
  TensorId added(const char* phase, TensorId x, TensorId half, bool last) {
    const TensorId sum = made("sum", step_.batch * step_.width, last ? kOutput : "activations");
    launch("add", phase, "add", fmt::format("n:{}", step_.batch * step_.width),
           {{"x", x}, {"y", half}, {"z", sum}});
    program_.free(half);
    if (x != input_) program_.free(x);
    return sum;
  }

  TensorId attention(std::int64_t l, TensorId x) {
    constexpr const char* kPhase = "attention";
    const Layer& layer = layers_[static_cast<std::size_t>(l)];
    const TensorId y = norm(kPhase, x, layer.attention_norm);
    const TensorId q = product("q", kPhase, y, layer.q, queries(), step_.width);
    const TensorId k = product("k", kPhase, y, layer.k, keys(), step_.width);
    static_cast<void>(product("v", kPhase, y, layer.v, keys(), step_.width, kOutput));
    program_.free(y);
    const TensorId turned = rotated("rope q", q, step_.heads, "activations");
    static_cast<void>(rotated("rope k", k, step_.kv_heads, kOutput));
    const TensorId read = made("attention", step_.batch * queries());
    launch("attention", kPhase, "attention_decode",
           fmt::format("b:{}/h:{}/kv:{}/s:{}/d:{}", step_.batch, step_.heads, step_.kv_heads,
                       step_.context, step_.head_dim),
           {{"q", turned}, {"k", layer.keys}, {"v", layer.values}, {"o", read}});
    program_.free(turned);
    const TensorId half = product("o", kPhase, read, layer.o, step_.width, queries());
    program_.free(read);
    return added(kPhase, x, half, false);
  }

  TensorId network(std::int64_t l, TensorId x) {
    constexpr const char* kPhase = "network";
    const Layer& layer = layers_[static_cast<std::size_t>(l)];
    const std::int64_t inner = step_.network_width;
    const TensorId y = norm(kPhase, x, layer.network_norm);
    const TensorId gate = product("gate", kPhase, y, layer.gate, inner, step_.width);
    const TensorId up = product("up", kPhase, y, layer.up, inner, step_.width);
    program_.free(y);
    const TensorId h = made("swiglu", step_.batch * inner);
    launch("swiglu", kPhase, "swiglu", fmt::format("n:{}", step_.batch * inner),
           {{"gate", gate}, {"up", up}, {"h", h}});
    program_.free(gate);
    program_.free(up);
    const TensorId half = product("down", kPhase, h, layer.down, step_.width, inner);
    program_.free(h);
    return added(kPhase, x, half, l + 1 == step_.layers);
  }

  const DecodeStep& step_;
  StepProgram program_;
  std::vector<Layer> layers_;
  TensorId input_ = 0;
  TensorId angles_ = 0;
  std::uint32_t stream_ = 0;
};

}  // namespace

StepProgram decode_program(const DecodeStep& step) { return DecodeBuilder(step).build(); }

}  // namespace ridgebench
