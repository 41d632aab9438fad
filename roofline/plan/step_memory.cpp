#include "roofline/plan/step_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "roofline/plan/network.hpp"

namespace ridgebench {
namespace {

constexpr double kLabelBytes = 4;  // int32
constexpr double kLossBytes = 4;   // fp32, one a row

// As rounded_tensor_bytes, for sizes beyond 64 bits.
double rounded(double bytes) {
  constexpr auto kAlignment = static_cast<double>(kTensorAlignment);
  return std::ceil(bytes / kAlignment) * kAlignment;
}

// The layers of a network and how many of them the backward pass computes again at once.
struct Segments {
  double layers;
  double length;  // 0: no checkpoints, or `full`
  bool full;
  bool gelu;

  [[nodiscard]] double count() const { return length > 0 ? std::ceil(layers / length) : 0; }
  [[nodiscard]] double last() const { return layers - (count() - 1) * length; }
  // The maximum over segments s of s + `each` x n_s. The last segment may be shorter than the
  // others, so that it, or the one before it, has the maximum.
  [[nodiscard]] double most(double each) const {
    const double at_last = count() - 1 + each * last();
    return count() < 2 ? at_last : std::max(at_last, count() - 2 + each * length);
  }
};

Segments segments_of(const ActivationQuestion& q) {
  const double layers = q.layers.value_or(0);
  const bool full = q.checkpoint == "full";
  const double length = full || q.checkpoint == "none" ? 0 : segment_length(q.checkpoint, layers);
  return {layers, length, full && layers > 1, q.pre_activations};
}

// F: tensors that live at once, h_0 and two gradients among them.
double most_tensors(const Segments& s) {
  if (s.full) return 5;
  if (s.length > 0) return s.gelu ? s.most(2) + 2 : s.most(1) + 3;
  return s.gelu ? 2 * s.layers + 2 : s.layers + 3;
}

// F': outputs that live while the gradient of a weight is computed, h_0 among them.
double outputs_beside_weight(const Segments& s) {
  if (s.full) return 2;
  if (s.length > 0) return s.gelu ? s.most(2) - 1 : s.most(1);
  return s.gelu ? 2 * s.layers - 1 : s.layers;
}

// The outputs that live while a launch of a layer runs, without h_0.
class Layers {
 public:
  explicit Layers(const Segments& segments) : s_(segments) {}

  // The product reads h_(l-1) and writes z_l, then the activation function reads z_l and writes
  // h_l. `needed` is the layer whose backward pass computes `layer` again; 0: the forward pass.
  [[nodiscard]] double product(double layer, double needed = 0) const {
    const double last = needed > 0 ? needed : s_.layers;
    const bool read_once =
        s_.full ? layer > 1 && layer != last : s_.length > 0 && needed == 0 && inside(layer) > 0;
    return stay_before(layer, needed) + (read_once ? 1 : 0) + 1;
  }
  [[nodiscard]] double activation(double layer, double needed = 0) const {
    return stay_before(layer, needed) + 2;
  }
  // The first layer that the backward pass of `layer` computes again; all up to `layer` follow.
  [[nodiscard]] std::optional<double> first_again(double layer) const {
    if (s_.full) return layer < s_.layers ? std::optional(1.0) : std::nullopt;
    const bool ends_segment = layer == s_.layers || inside(layer + 1) == 0;
    return s_.length > 0 && ends_segment ? std::optional(layer - inside(layer)) : std::nullopt;
  }

  // The outputs that the loss finds, h_L among them.
  [[nodiscard]] double at_loss() const {
    if (s_.full) return s_.gelu ? 3 : 2;
    if (s_.length > 0) return s_.count();
    return s_.gelu ? 2 * s_.layers : s_.layers;
  }

  // The outputs beside dh_l and dz_l, those beside dz_l and the gradient of W_l, and those beside
  // dz_l and dh_(l-1). The last ones lack h_(l-1) unless the backward pass of layer l - 1 reads it.
  [[nodiscard]] double backward(double layer) const { return kept_before(layer) + 1; }
  [[nodiscard]] double weight(double layer) const { return kept_before(layer); }
  [[nodiscard]] double input_gradient(double layer) const {
    const bool read_again = !s_.gelu && !s_.full && (s_.length == 0 || inside(layer) > 0);
    return kept_before(layer) - (read_again ? 0 : 1);
  }

 private:
  [[nodiscard]] double segment(double layer) const {
    return s_.length > 0 ? std::floor((layer - 1) / s_.length) : 0;
  }
  // Layers before `layer` in its segment.
  [[nodiscard]] double inside(double layer) const { return layer - segment(layer) * s_.length - 1; }

  // Outputs that the layers before `layer` keep for the backward pass, before that of `layer`.
  [[nodiscard]] double kept_before(double layer) const {
    if (s_.full) return layer > 1 ? 1 : 0;
    return segment(layer) + (s_.gelu ? 2 : 1) * inside(layer);
  }
  // Outputs of earlier layers that live until `layer` is computed and longer.
  [[nodiscard]] double stay_before(double layer, double needed) const {
    if (s_.full) return layer > 1 && layer == (needed > 0 ? needed : s_.layers) ? 1 : 0;
    return s_.length > 0 && needed == 0 ? segment(layer) : kept_before(layer);
  }

  Segments s_;
};

// The launches of one micro-batch. `adds`: its gradients of weights are temporaries.
void add_launches(const Segments& segments, bool adds, std::vector<StepBand>& launches) {
  const Layers layers(segments);
  const auto compute = [&](StepPhase phase, double layer, double needed) {
    const double gradients = needed > 0 ? 1 : 0;
    const double owner = needed > 0 ? needed : layer;
    launches.push_back({phase, owner, layers.product(layer, needed), gradients});
    launches.push_back({phase, owner, layers.activation(layer, needed), gradients});
  };
  for (double l = 1; l <= segments.layers; ++l) compute(StepPhase::forward, l, 0);
  launches.push_back({StepPhase::loss, 0, layers.at_loss(), 1});
  for (double l = segments.layers; l >= 1; --l) {
    for (double again = layers.first_again(l).value_or(l + 1); again <= l; ++again) {
      compute(StepPhase::backward, again, l);
    }
    launches.push_back({StepPhase::backward, l, layers.backward(l), 2});
    launches.push_back({StepPhase::backward, l, layers.weight(l), 1, adds});
    if (adds) launches.push_back(launches.back());
    if (l > 1) launches.push_back({StepPhase::backward, l, layers.input_gradient(l), 2});
  }
}

}  // namespace

StepMemory step_memory(const ActivationQuestion& q) {
  const Segments segments = segments_of(q);
  const double element = info(q.format).storage_bytes;
  const double width = q.width.value_or(0);
  const double rows = micro_batch_rows(q);
  const bool adds = q.micro_batches > 1 || q.adds_gradients;
  StepMemory memory{
      .u = rounded(rows * width * element),
      .u_less = rounded((rows - 1) * width * element),
      .weight_bytes = adds ? rounded(width * width * element) : 0,
      .batch_bytes = rounded(q.batch * width * element) + rounded(q.batch * kLabelBytes),
      .loss_bytes = rounded(q.batch * kLossBytes),
      .segment = segments.length,
      .segments = segments.count(),
      .extra_forwards = segments.full         ? (segments.layers - 1) / 2
                        : segments.length > 0 ? 1.0
                                              : 0.0,
      .outputs = most_tensors(segments) - 3,
      .gradients = 2,
      .accumulates = false};
  const double beside_weight = outputs_beside_weight(segments) - 1;
  const double at_weight = (beside_weight + 1) * memory.u + memory.weight_bytes;
  if (adds && at_weight > (memory.outputs + memory.gradients) * memory.u) {
    memory.outputs = beside_weight;
    memory.gradients = 1;
    memory.accumulates = true;
  }
  return memory;
}

std::vector<StepBand> step_bands(const ActivationQuestion& q) {
  const Segments segments = segments_of(q);
  const Layers layers(segments);
  const StepMemory memory = step_memory(q);
  std::vector<StepBand> bands;
  const auto last = static_cast<std::int64_t>(segments.layers);
  for (std::int64_t l = 1; l <= last; ++l) {
    const auto layer = static_cast<double>(l);
    bands.push_back({StepPhase::forward, layer, layers.activation(layer), 0});
  }
  bands.push_back({StepPhase::loss, 0, layers.at_loss(), 1});
  for (std::int64_t l = last; l >= 1; --l) {
    const auto layer = static_cast<double>(l);
    StepBand band{StepPhase::backward, layer, layers.backward(layer), 2};
    const double outputs = layers.weight(layer);
    const double more = (band.outputs + band.gradients - outputs - 1) * memory.u;
    if (memory.weight_bytes > more) {
      band = {StepPhase::backward, layer, outputs, 1, true};
    }
    bands.push_back(band);
  }
  bands.push_back({StepPhase::step, 0, 0, 0});
  bands.push_back({StepPhase::zero, 0, 0, 0});
  return bands;
}

std::vector<StepBand> step_launches(const ActivationQuestion& q) {
  const Segments segments = segments_of(q);
  std::vector<StepBand> launches;
  const double smaller = smaller_micro_batches(q.batch, q.micro_batches);
  for (double part = 0; part < q.micro_batches; ++part) {
    const auto first = static_cast<std::ptrdiff_t>(launches.size());
    add_launches(segments, part > 0 || q.adds_gradients, launches);
    std::for_each(launches.begin() + first, launches.end(),
                  [&](StepBand& launch) { launch.row_less = part < smaller; });
  }
  const auto layers = static_cast<std::size_t>(segments.layers);
  launches.insert(launches.end(), layers, {StepPhase::step, 0, 0, 0});
  if (q.adds_gradients) launches.insert(launches.end(), layers, {StepPhase::zero, 0, 0, 0});
  return launches;
}

}  // namespace ridgebench
