// State-space layers and linear attention: their products, the state of a sequence, and the FLOPs
// of the recurrence for one token after another. A kernel that computes chunks of a prompt needs
// more.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/transformer/read_parts.hpp"

namespace ridgebench {
namespace {

// Sizes of a recurrence, the same for all layers.
struct Parts {
  std::int64_t layers;
  std::int64_t inputs;     // outputs of the product in front of it
  std::int64_t outputs;    // inputs of the product behind it
  std::int64_t convolved;  // channels of a short convolution
  std::int64_t kernel;     // its taps
  std::int64_t state;
  double flops_per_element;              // of the state, for one token
  std::vector<std::int64_t> split = {};  // of `inputs`, if they are several products
};

void add_parts(const Parts& p, std::string_view name, Transformer& model) {
  const std::string prefix(name);
  model.others.push_back({prefix + "_in", p.inputs, model.width, p.layers, 1, 1, p.split});
  model.others.push_back({prefix + "_out", model.width, p.outputs, p.layers});
  const auto taps = static_cast<double>(p.convolved * p.kernel);
  model.more_parameters += taps * static_cast<double>(p.layers);
  model.recurrences.push_back(
      {.layers = p.layers,
       .state = p.state + p.convolved * p.kernel,
       .passed = p.inputs + p.outputs,
       .flops_per_token = p.flops_per_element * static_cast<double>(p.state) + 2 * taps});
}

// S = S (a - b k k^T) + b v k^T, and o = S q: a product of S with k, one with q, the outer product
// and the decay (Yang et al., Gated Delta Networks, arXiv 2412.06464, equation 10).
constexpr double kDeltaFlops = 7;
// S = a S + v k^T and o = S q (Qin et al., Lightning Attention-2, arXiv 2401.04658; Dao, Gu,
// Transformers are SSMs, arXiv 2405.21060).
constexpr double kDecayFlops = 5;

void add_gated_delta(ConfigKeys& keys, std::int64_t layers, Transformer& model) {
  const std::int64_t values = keys.count("linear_num_value_heads", kHeadRange);
  const std::int64_t key_dim = keys.count("linear_key_head_dim", kSizeRange);
  const std::int64_t value_dim = keys.count("linear_value_head_dim", kSizeRange);
  const std::int64_t keys_width = keys.count("linear_num_key_heads", kHeadRange) * key_dim;
  const std::int64_t values_width = values * value_dim;
  const std::int64_t mixed = 2 * keys_width + values_width;
  add_parts({.layers = layers,
             .inputs = mixed + values_width + 2 * values,
             .outputs = values_width,
             .convolved = mixed,
             .kernel = keys.count("linear_conv_kernel_dim", kHeadRange),
             .state = values * key_dim * value_dim,
             .flops_per_element = kDeltaFlops,
             .split = {mixed, values_width, values, values}},
            "linear", model);
}

// Kimi Delta Attention: a decay of each channel, by two products through a narrow layer, and a gate
// of the output by two more (Moonshot AI, Kimi Linear, arXiv 2510.26692).
void add_kimi_delta(ConfigKeys& keys, std::int64_t layers, Transformer& model) {
  const std::int64_t heads = keys.count("linear_num_value_heads", kHeadRange);
  const std::int64_t dim = keys.count("linear_key_head_dim", kSizeRange);
  const std::int64_t width = heads * dim;
  add_parts({.layers = layers,
             .inputs = 3 * width + 2 * dim + heads,
             .outputs = width,
             .convolved = 3 * width,
             .kernel = keys.count("linear_conv_kernel_dim", kHeadRange),
             .state = width * dim,
             .flops_per_element = kDeltaFlops},
            "linear", model);
  model.others.push_back({"linear_gates", width, dim, layers, 2, 2});
}

void add_lightning(ConfigKeys& keys, std::int64_t layers, Transformer& model) {
  const std::int64_t heads = keys.count("num_attention_heads", kHeadRange);
  const std::int64_t dim = keys.count_or("head_dim", kSizeRange, model.width / heads);
  const std::int64_t width = heads * dim;
  add_parts({.layers = layers,
             .inputs = 4 * width,  // q, k, v and the gate of the output
             .outputs = width,
             .convolved = 0,
             .kernel = 0,
             .state = width * dim,
             .flops_per_element = kDecayFlops},
            "linear", model);
}

void add_mamba2(ConfigKeys& keys, std::int64_t layers, Transformer& model) {
  const std::int64_t heads = keys.count("mamba_num_heads", kHeadRange);
  const std::int64_t inner = heads * keys.count("mamba_head_dim", kSizeRange);
  const std::int64_t size = keys.count("ssm_state_size", kSizeRange);
  const std::int64_t groups = 2 * keys.count("n_groups", kHeadRange) * size;
  add_parts({.layers = layers,
             .inputs = 2 * inner + groups + heads,
             .outputs = inner,
             .convolved = inner + groups,
             .kernel = keys.count("conv_kernel", kHeadRange),
             .state = inner * size,
             .flops_per_element = kDecayFlops},
            "mamba", model);
}

struct Kind {
  std::string_view name;
  void (*add)(ConfigKeys&, std::int64_t, Transformer&);
  bool in_attention = false;
};
constexpr std::array kKinds{Kind{"gated_delta", add_gated_delta},
                            Kind{"kimi_delta", add_kimi_delta, true},
                            Kind{"lightning", add_lightning, true}, Kind{"mamba2", add_mamba2}};

}  // namespace

void read_recurrences(ConfigKeys& keys, const LayerPlan& plan, Transformer& model) {
  const std::int64_t layers = plan.count(Mixer::linear);
  if (layers == 0) return;
  const auto& name = keys.trait("linear").get_ref<const std::string&>();
  for (const Kind& kind : kKinds) {
    if (kind.name != name) continue;
    kind.add(keys, layers, model);
    model.recurrences.back().in_attention = kind.in_attention;
  }
}

}  // namespace ridgebench
