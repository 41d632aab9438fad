// The launches of a training step in their order, and when its tensors live.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/step/training_step.hpp"

namespace ridgebench {
namespace {

using Way = Checkpointing::Way;

// The kinds of a timeline.
constexpr const char* kParameters = "parameters";
constexpr const char* kGradients = "gradients";
constexpr const char* kOptimizer = "optimizer";
constexpr const char* kInput = "input";

// The optimizer is in the midst of a run: its first moments lie within this bound, and its second
// ones within the square of it.
constexpr double kMoment = 1e-3;
constexpr std::uint32_t kInputStream = 0x10000;  // behind those of the layers

class Builder {
 public:
  explicit Builder(const TrainingStep& step) : step_(step) {}

  StepProgram build() {
    allocate_state();
    for (std::int64_t part = 0; part < step_.micro_batches; ++part) run_micro_batch(part);
    for (std::int64_t l = 0; l < step_.layers; ++l) update(l);
    if (step_.zero_grad == ZeroGrad::fill) {
      for (std::int64_t l = 0; l < step_.layers; ++l) clear(l);
    }
    return std::move(program_);
  }

 private:
  // A layer's parameters and what the step keeps for each of them.
  struct Layer {
    TensorId w = 0;
    std::optional<TensorId> master = std::nullopt;
    TensorId g = 0;
    std::optional<TensorId> m = std::nullopt;
    std::optional<TensorId> v = std::nullopt;
  };
  // A layer's values that wait for the backward pass.
  struct Kept {
    std::optional<TensorId> z;  // before the activation
    std::optional<TensorId> h;  // after it
  };

  // One tensor of a layer's parameters, and what it holds before the step.
  struct State {
    const char* name;
    const char* kind;
    Format format;
    Values values = {};
    double deviation = 0;
  };
  TensorId state(std::int64_t l, const State& of) {
    // The master copy holds the numbers of the parameters before they are rounded.
    const auto stream = static_cast<std::uint32_t>(l);
    return program_.allocate({.name = fmt::format("{}{}", of.name, l + 1),
                              .kind = of.kind,
                              .elements = step_.width * step_.width,
                              .format = of.format,
                              .values = of.values,
                              .deviation = of.deviation,
                              .stream = stream});
  }

  void allocate_state() {
    const double deviation = std::sqrt(2 / static_cast<double>(step_.width));
    for (std::int64_t l = 0; l < step_.layers; ++l) {
      Layer layer;
      layer.w = state(l, {"W", kParameters, step_.format, {}, deviation});
      if (step_.master) {
        layer.master = state(l, {"master", kParameters, Format::fp32, {}, deviation});
      }
      const bool cleared = step_.zero_grad == ZeroGrad::fill;
      layer.g = state(l, {"G", kGradients, step_.format, cleared ? uniform(0, 0) : Values{}});
      if (step_.optimizer != Optimizer::sgd) {
        layer.m = state(l, {"m", kOptimizer, Format::fp32, uniform(-kMoment, kMoment)});
      }
      if (step_.optimizer == Optimizer::adamw) {
        layer.v = state(l, {"v", kOptimizer, Format::fp32, uniform(0, kMoment * kMoment)});
      }
      layers_.push_back(layer);
    }
    input_ = program_.allocate({.name = "x",
                                .kind = kInput,
                                .elements = step_.batch * step_.width,
                                .format = step_.format,
                                .deviation = 1,
                                .stream = kInputStream});
    labels_ = program_.allocate({.name = "labels",
                                 .kind = kInput,
                                 .elements = step_.batch,
                                 .format = Format::int32,
                                 .values = integers_below(step_.width),
                                 .stream = kInputStream + 1});
    loss_ = program_.allocate(
        {.name = "loss", .kind = "loss", .elements = step_.batch, .format = Format::fp32});
  }

  void run_micro_batch(std::int64_t part) {
    part_ = part;
    first_row_ += rows_;
    rows_ = step_.rows(part);
    h0_ = step_.micro_batches == 1
              ? input_
              : program_.part_of(input_, fmt::format("x[{}]", part), first_row_ * step_.width,
                                 rows_ * step_.width);
    kept_.assign(static_cast<std::size_t>(step_.layers), {});
    forward();
    TensorId gradient = differentiate_loss();
    const std::vector<std::int64_t> segments = step_.segments();
    for (auto s = static_cast<std::int64_t>(segments.size()) - 1; s >= 0; --s) {
      const std::int64_t first = segments[static_cast<std::size_t>(s)];
      const std::int64_t end = static_cast<std::size_t>(s) + 1 < segments.size()
                                   ? segments[static_cast<std::size_t>(s) + 1]
                                   : step_.layers;
      gradient = backward_segment(first, end, gradient);
    }
  }

  // rows x width elements.
  TensorId activations(std::string name, const char* kind = "activations") {
    return program_.allocate({.name = std::move(name),
                              .kind = kind,
                              .elements = rows_ * step_.width,
                              .format = step_.format});
  }
  TensorId activation_gradient(std::string name) {
    return activations(std::move(name), "activation_gradients");
  }
  void free(std::optional<TensorId>& tensor) {
    if (tensor) program_.free(*tensor);
    tensor.reset();
  }

  // The input of layer `l`.
  TensorId input_of(std::int64_t l) { return l == 0 ? h0_ : *kept(l - 1).h; }
  Kept& kept(std::int64_t l) { return kept_[static_cast<std::size_t>(l)]; }

  // C[m,n] = A B, with `k` terms.
  struct Sizes {
    std::int64_t m;
    std::int64_t n;
    std::int64_t k;
  };
  void product(const char* name, const char* phase, Layout layout, Sizes size, TensorId a,
               TensorId b, TensorId c) {
    Shape shape({{"m", size.m}, {"n", size.n}, {"k", size.k}}, layout);
    program_.launch(
        {name, phase, "matmul", std::move(shape), step_.format, {{"a", a}, {"b", b}, {"c", c}}});
  }

  // Computes one layer. `keeps_z`: the backward pass needs the value before the activation.
  // `keeps_input`: the input of the layer stays.
  void forward_layer(std::int64_t l, const char* phase, bool keeps_z, bool keeps_input) {
    const std::int64_t b = rows_;
    const std::int64_t d = step_.width;
    kept(l).z = activations(fmt::format("z{}", l + 1));
    product("forward", phase, Layout::nt, {b, d, d}, input_of(l), layer(l).w, *kept(l).z);
    if (!keeps_input && l > 0) free(kept(l - 1).h);
    kept(l).h = activations(fmt::format("h{}", l + 1));
    program_.launch({"activation",
                     phase,
                     std::string(name(step_.activation)),
                     Shape({{"n", b * d}}),
                     step_.format,
                     {{"x", *kept(l).z}, {"y", *kept(l).h}}});
    if (!keeps_z) free(kept(l).z);
  }

  // True if the backward pass reads what lies before the activation. ReLU's reads its output.
  [[nodiscard]] bool needs_z() const { return step_.activation == Activation::gelu; }

  void forward() {
    const std::vector<std::int64_t> segments = step_.segments();
    for (std::int64_t l = 0; l < step_.layers; ++l) {
      const bool starts_segment = std::ranges::find(segments, l) != segments.end();
      const bool last = l + 1 == step_.layers;
      const bool keeps_all = step_.checkpoint.way == Way::none;
      const bool last_of_full = step_.checkpoint.way == Way::full && last;
      forward_layer(l, "forward", needs_z() && (keeps_all || last_of_full),
                    keeps_all || last_of_full || starts_segment);
    }
  }

  TensorId differentiate_loss() {
    const std::int64_t b = rows_;
    const TensorId gradient = activation_gradient(fmt::format("dh{}", step_.layers));
    const auto rows = [&](TensorId whole, const char* name) {
      return step_.micro_batches == 1
                 ? whole
                 : program_.part_of(whole, fmt::format("{}[{}]", name, part_), first_row_, b);
    };
    program_.launch({"loss",
                     "forward",
                     "cross_entropy",
                     Shape({{"m", b}, {"n", step_.width}}),
                     step_.format,
                     {{"logits", *kept(step_.layers - 1).h},
                      {"labels", rows(labels_, "labels")},
                      {"loss", rows(loss_, "loss")},
                      {"dlogits", gradient}}});
    const bool recomputed = step_.checkpoint.way == Way::every;
    if (recomputed || needs_z()) free(kept(step_.layers - 1).h);
    return gradient;
  }

  TensorId backward_segment(std::int64_t first, std::int64_t end, TensorId gradient) {
    if (step_.checkpoint.way == Way::every) {
      for (std::int64_t l = first; l < end; ++l) forward_layer(l, "backward", needs_z(), true);
      if (needs_z()) free(kept(end - 1).h);
    }
    for (std::int64_t l = end - 1; l >= first; --l) {
      if (step_.checkpoint.way == Way::full && l + 1 < step_.layers) compute_again_to(l);
      gradient = backward_layer(l, gradient, l == first);
    }
    return gradient;
  }

  // With full checkpointing: computes layers from the input on until layer `l`, and keeps its input
  // and what its backward pass needs.
  void compute_again_to(std::int64_t l) {
    for (std::int64_t i = 0; i <= l; ++i) {
      forward_layer(i, "backward", needs_z() && i == l, i == l);
    }
    if (needs_z()) free(kept(l).h);
  }

  // Takes the gradient of the layer's output and returns that of its input.
  TensorId backward_layer(std::int64_t l, TensorId gradient, bool first_of_segment) {
    const std::int64_t b = rows_;
    const std::int64_t d = step_.width;
    const TensorId dz = activation_gradient(fmt::format("dz{}", l + 1));
    std::optional<TensorId>& saved = needs_z() ? kept(l).z : kept(l).h;
    program_.launch({"activation backward",
                     "backward",
                     fmt::format("{}_backward", name(step_.activation)),
                     Shape({{"n", b * d}}),
                     step_.format,
                     {{"x", *saved}, {"dy", gradient}, {"dx", dz}}});
    program_.free(gradient);
    free(saved);
    accumulate(l, dz);
    const bool input_is_read_again =
        !needs_z() && !first_of_segment && step_.checkpoint.way != Way::full;
    if (l > 0 && !input_is_read_again) free(kept(l - 1).h);
    if (l == 0) {
      program_.free(dz);
      return dz;
    }
    const TensorId dh = activation_gradient(fmt::format("dh{}", l));
    product("dX", "backward", Layout::nn, {b, d, d}, dz, layer(l).w, dh);
    program_.free(dz);
    return dh;
  }

  // Adds dZ^T h to the gradient of the layer's parameters, or writes it there first.
  void accumulate(std::int64_t l, TensorId dz) {
    const std::int64_t b = rows_;
    const std::int64_t d = step_.width;
    const bool adds = step_.zero_grad == ZeroGrad::fill || part_ > 0;
    const TensorId g = layer(l).g;
    const TensorId out = adds ? program_.allocate({.name = fmt::format("dW{}", l + 1),
                                                   .kind = kGradients,
                                                   .elements = d * d,
                                                   .format = step_.format})
                              : g;
    product("dW", "backward", Layout::tn, {d, d, b}, dz, input_of(l), out);
    if (!adds) return;
    program_.launch({"accumulate",
                     "backward",
                     "add",
                     Shape({{"n", d * d}}),
                     step_.format,
                     {{"x", g}, {"y", out}, {"z", g}}});
    program_.free(out);
  }

  void update(std::int64_t l) {
    StepLaunch launch{.name = "optimizer",
                      .phase = "step",
                      .operation = std::string(name(step_.optimizer)),
                      .shape = Shape({{"n", step_.width * step_.width}}),
                      .format = step_.format,
                      .operands = {{"p", layer(l).w}, {"g", layer(l).g}}};
    if (step_.master) launch.operation += "_master";
    if (layer(l).master) launch.operands.emplace_back("master", *layer(l).master);
    const bool is_momentum = step_.optimizer == Optimizer::momentum;
    if (layer(l).m) launch.operands.emplace_back(is_momentum ? "b" : "m", *layer(l).m);
    if (layer(l).v) launch.operands.emplace_back("v", *layer(l).v);
    program_.launch(std::move(launch));
  }
  void clear(std::int64_t l) {
    program_.launch({"zero",
                     "zero",
                     "zero",
                     Shape({{"n", step_.width * step_.width}}),
                     step_.format,
                     {{"y", layer(l).g}}});
  }

  const Layer& layer(std::int64_t l) const { return layers_[static_cast<std::size_t>(l)]; }

  TrainingStep step_;
  StepProgram program_;
  std::vector<Layer> layers_;
  TensorId input_ = 0;
  TensorId labels_ = 0;
  TensorId loss_ = 0;
  TensorId h0_ = 0;
  std::int64_t part_ = 0;       // number of the micro-batch
  std::int64_t first_row_ = 0;  // of the micro-batch
  std::int64_t rows_ = 0;       // of it
  std::vector<Kept> kept_;      // by layer
};

}  // namespace

StepProgram training_program(const TrainingStep& step) { return Builder(step).build(); }

}  // namespace ridgebench
